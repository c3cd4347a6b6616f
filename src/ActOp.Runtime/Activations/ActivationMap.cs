using System.Collections;
using System.Diagnostics.CodeAnalysis;
using ActOp.Calls;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>Hosts by their grain; each host contains its own key. Any thread; reads take no lock and write nothing.</summary>
/// <remarks>
/// <para>64 stripes by hash, so that writers rarely wait for each other and a table that is replaced is small. Each stripe has a lock,
/// which its writers take, and a table with open addressing and linear probing, which it replaces when it is full. An entry takes a hash
/// and a reference, 12 bytes (a node of a concurrent dictionary and its bucket take 80).</para>
/// <para>Why reads need no lock: entries do not move within a table. An entry that was taken once keeps a hash, so that a probe continues
/// past it. Its host is removed, and another one may take the entry later; the reader compares the key. A host becomes visible with its
/// hash, which is written after it. A table that was replaced is not written any more; only readers that started before still use it. So an
/// enumeration finds every host that is in the map from its start to its end. It may or may not find those added or removed
/// meanwhile.</para>
/// <para>The hash of a grain is the same in every process, so whoever chooses keys can choose many with one hash. A stripe in which an
/// entry has come far from the first entry of its hash changes over to a random hash for good.</para>
/// </remarks>
internal sealed class ActivationMap<THost> : IEnumerable<THost>
    where THost : CallHost
{
    private const int StripeBits = 6;

    /// <summary>
    /// How many entries a probe passes before its stripe changes over to random hashes. At four fifths full, honest keys need so many once
    /// in 10^10 entries.
    /// </summary>
    internal const int LongestRun = 1_024;

    private readonly Stripe[] _stripes = new Stripe[1 << StripeBits];

    internal ActivationMap()
    {
        for (var index = 0; index < _stripes.Length; index++)
            _stripes[index] = new Stripe();
    }

    /// <summary>The number of hosts; exact while there are no writers.</summary>
    internal int Count
    {
        get
        {
            var count = 0;
            foreach (var stripe in _stripes)
                count += stripe.Count;
            return count;
        }
    }

    internal bool TryGet(in GrainId id, [NotNullWhen(true)] out THost? host)
    {
        var mark = MarkOf(id);
        host = StripeOf(mark).Table.FindHost(mark, id, out _);
        return host is not null;
    }

    /// <summary>How far the host of a grain is from the entry that its hash gives it. For tests.</summary>
    internal int DistanceOf(in GrainId id)
    {
        var mark = MarkOf(id);
        var table = StripeOf(mark).Table;
        table.FindHost(mark, id, out var index);
        return table.DistanceOf(table.HomeOf(mark, id), index);
    }

    /// <summary>Adds a host; false when its grain has one.</summary>
    internal bool TryAdd(THost host)
    {
        var mark = MarkOf(host.HostId);
        return StripeOf(mark).TryAdd(mark, host);
    }

    /// <summary>
    /// Replaces a host by another one of the same grain in one step, so every lookup finds one of them. False if the present one is not in
    /// the map.
    /// </summary>
    internal bool TryReplace(THost present, THost next)
    {
        var mark = MarkOf(present.HostId);
        return StripeOf(mark).TryReplace(mark, present, next);
    }

    /// <summary>Removes a host; false when its grain has another one or none.</summary>
    internal bool TryRemove(THost host)
    {
        var mark = MarkOf(host.HostId);
        return StripeOf(mark).TryRemove(mark, host);
    }

    public IEnumerator<THost> GetEnumerator()
    {
        foreach (var stripe in _stripes)
        {
            var table = stripe.Table;
            for (var index = 0; index < table.Capacity; index++)
            {
                if (table[index] is { } host)
                    yield return host;
            }
        }
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>A hash of which all bits are used; never 0.</summary>
    private static uint MarkOf(in GrainId id) => id.GetUniformHashCode() * 0x9E3779B1u is var mark && mark != 0 ? mark : 1;

    private Stripe StripeOf(uint mark) => _stripes[mark >> (32 - StripeBits)];

    /// <summary>The part of the map that one lock guards.</summary>
    private sealed class Stripe
    {
        private readonly Lock _gate = new();
        private Table _table = Table.Empty;
        private int _count;

        /// <summary>Entries of the table with a hash: those of hosts, and those of removed hosts.</summary>
        private int _used;

        internal Table Table => Volatile.Read(ref _table);

        internal int Count => Volatile.Read(ref _count);

        internal bool TryAdd(uint mark, THost host)
        {
            lock (_gate)
            {
                if (_table.FindHost(mark, host.HostId, out var index) is not null)
                    return false;
                if (!_table.IsRandom && _table.DistanceOf(_table.HomeOf(mark, host.HostId), index) > LongestRun)
                    Rebuild(isRandom: true);
                if (_table.FirstLeft(mark, host.HostId) is >= 0 and var left)
                {
                    _table.Retake(left, mark, host);
                }
                else
                {
                    // At most four fifths full: longer runs of taken entries cost more than the memory is worth.
                    if (_used + 1 > _table.Capacity - (_table.Capacity / 5) - 1)
                        Rebuild(_table.IsRandom);
                    _table.AddHost(mark, host);
                    _used++;
                }

                Volatile.Write(ref _count, _count + 1);
                Invariant.Holds(_count <= _used && _used < _table.Capacity);
                return true;
            }
        }

        internal bool TryReplace(uint mark, THost present, THost next)
        {
            lock (_gate)
            {
                if (!ReferenceEquals(_table.FindHost(mark, present.HostId, out var index), present))
                    return false;
                if (Invariant.AreChecked)
                    Invariant.Holds(next.HostId.Equals(present.HostId) && !ReferenceEquals(next, present));
                _table[index] = next;
                return true;
            }
        }

        internal bool TryRemove(uint mark, THost host)
        {
            lock (_gate)
            {
                if (!ReferenceEquals(_table.FindHost(mark, host.HostId, out var index), host))
                    return false;
                _table[index] = null;
                _used -= _table.Free(index);
                Volatile.Write(ref _count, _count - 1);
                Invariant.Holds(_count >= 0 && _count <= _used);
                return true;
            }
        }

        /// <summary>
        /// Replaces the table by one that is three eighths free and has no entries of removed hosts, so it may be smaller. Less free room
        /// would save little memory, and the garbage collector copies each table before it is replaced.
        /// </summary>
        private void Rebuild(bool isRandom)
        {
            Invariant.Held(_gate);
            var next = new Table(_count + (_count >> 1) + (_count >> 3) + 8, isRandom);
            for (var index = 0; index < _table.Capacity; index++)
            {
                if (_table[index] is { } host)
                    next.AddHost(_table.MarkAt(index), host);
            }

            _used = _count;
            Invariant.Holds(_used < next.Capacity);
            Volatile.Write(ref _table, next);
        }
    }

    /// <summary>Entries with their hashes. Read by any thread; written under the stripe's lock, before it is replaced.</summary>
    /// <param name="capacity">The number of entries.</param>
    /// <param name="isRandom">The hash that gives a host its entry is random. Marks are not.</param>
    private sealed class Table(int capacity, bool isRandom)
    {
        /// <summary>The first table of every stripe: empty, replaced when the first host is added.</summary>
        internal static readonly Table Empty = new(1, isRandom: false);

        /// <summary>0: never taken, or free again. Separate from the hosts, because a probe reads mostly these.</summary>
        private readonly uint[] _marks = new uint[capacity];
        private readonly Entry[] _entries = new Entry[capacity];

        internal int Capacity => capacity;

        internal bool IsRandom => isRandom;

        internal THost? this[int index]
        {
            get => Volatile.Read(ref _entries[index].Host);
            set => Volatile.Write(ref _entries[index].Host, value);
        }

        internal uint MarkAt(int index) => _marks[index];

        internal THost? FindHost(uint mark, in GrainId id, out int index)
        {
            var marks = _marks;
            for (index = HomeOf(mark, id); Volatile.Read(ref marks[index]) is var found && found != 0; index = Next(index))
            {
                if (found == mark && this[index] is { } host && host.HostId.Equals(id))
                    return host;
            }

            return null;
        }

        /// <summary>The first entry of a removed host that a probe for this grain reaches; -1 if there is none.</summary>
        internal int FirstLeft(uint mark, in GrainId id)
        {
            for (var index = HomeOf(mark, id); _marks[index] != 0; index = Next(index))
            {
                if (_entries[index].Host is null)
                    return index;
            }

            return -1;
        }

        /// <summary>Puts a host into the entry of a removed one. A reader that still sees the old hash compares keys.</summary>
        internal void Retake(int index, uint mark, THost host)
        {
            Invariant.Holds(_marks[index] != 0 && _entries[index].Host is null);
            Volatile.Write(ref _marks[index], mark);
            this[index] = host;
        }

        internal void AddHost(uint mark, THost host)
        {
            var index = HomeOf(mark, host.HostId);
            while (_marks[index] != 0)
                index = Next(index);
            _entries[index].Host = host;
            Volatile.Write(ref _marks[index], mark);
        }

        /// <summary>
        /// If the entry is the last one of a run, clears its hash and those of removed hosts before it, because no probe needs to pass
        /// them. Returns how many.
        /// </summary>
        internal int Free(int index)
        {
            if (_marks[Next(index)] != 0)
                return 0;
            var freed = 0;
            for (; _marks[index] != 0 && _entries[index].Host is null; index = index == 0 ? capacity - 1 : index - 1)
            {
                Volatile.Write(ref _marks[index], 0);
                freed++;
            }

            return freed;
        }

        /// <summary>The entry from which a probe starts. Uses the bits of the hash that do not select the stripe.</summary>
        internal int HomeOf(uint mark, in GrainId id) =>
            (int)(((ulong)(isRandom ? StableHash.Random(id.Key.AsSpan()) : mark << StripeBits) * (uint)_marks.Length) >> 32);

        /// <summary>How many entries a probe from <paramref name="home"/> passes.</summary>
        internal int DistanceOf(int home, int index) => index >= home ? index - home : index + capacity - home;

        private int Next(int index) => index + 1 == _marks.Length ? 0 : index + 1;
    }

    /// <summary>A struct around the reference: elements of such an array are read and written without a check of their type.</summary>
    private struct Entry
    {
        internal THost? Host;
    }
}
