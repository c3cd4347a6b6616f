using System.Collections.Concurrent;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>
/// The registrations of one slot: a hash table with open addressing and linear probing, as a directory of a million grains has mostly
/// these in memory. Owned by its slot and guarded by the slot's lock.
/// </summary>
/// <remarks>
/// An entry takes 44 bytes (a dictionary's takes 72) and the table is at least two thirds full once it has grown. The grain's key is kept
/// as it was given, so a registration that comes from this silo shares it with the activation; type and silo are one reference to what
/// <see cref="Residences"/> keeps once for all.
/// </remarks>
internal sealed class SlotEntries
{
    private const int FirstCapacity = 4;

    /// <summary>The hash of each entry's key, never 0; 0 where there is no entry. Probing reads these only.</summary>
    private int[] _hashes = new int[FirstCapacity];
    private Entry[] _entries = new Entry[FirstCapacity];

    /// <summary>Entries held.</summary>
    public int Count { get; private set; }

    /// <summary>Where the grain is registered.</summary>
    public bool TryGet(in GrainId grain, out Location location)
    {
        var index = Find(grain);
        location = index < 0 ? default : _entries[index].Location;
        return index >= 0;
    }

    /// <summary>Adds a registration or replaces the grain's.</summary>
    public void Set(in GrainId grain, in Location location, Residences residences)
    {
        var residence = residences.Get(grain.Type, location.Silo);
        var entry = new Entry(IdSpan.UnsafeGetArray(grain.Key), residence, location.Activation, location.Epoch);
        var index = Find(grain);
        if (index >= 0)
        {
            // The key of the new activation, so that no key lives on that only the table knows.
            _entries[index] = entry;
            return;
        }

        // At most seven eighths full, and never quite: with linear probing a grain that is not there costs some tens of hashes then, which
        // lie side by side.
        if (Count + 1 > _entries.Length - Math.Max(1, _entries.Length >> 3))
            Grow();
        Insert(Mark(grain), entry);
        Count++;
    }

    /// <summary>Removes the grain's registration; false when there is none.</summary>
    public bool Remove(in GrainId grain)
    {
        var index = Find(grain);
        if (index >= 0)
            RemoveAt(index);
        return index >= 0;
    }

    /// <summary>Removes the registrations on silos that <paramref name="isGone"/> says are gone.</summary>
    public void RemoveWhere(Func<SiloAddress, bool> isGone)
    {
        for (var index = 0; index < _entries.Length;)
        {
            // What is removed may be followed by another entry in its place. One that comes from the front of the table was looked at.
            if (_hashes[index] != 0 && isGone(_entries[index].Residence.Silo))
                RemoveAt(index);
            else
                index++;
        }
    }

    /// <summary>Adds all registrations to a list.</summary>
    public void CopyTo(List<Registration> list)
    {
        for (var index = 0; index < _entries.Length; index++)
        {
            if (_hashes[index] != 0)
                list.Add(new Registration(_entries[index].Grain(_hashes[index]), _entries[index].Location));
        }
    }

    private int Find(in GrainId grain)
    {
        var mark = Mark(grain);
        for (var index = HomeOf(mark); _hashes[index] != 0; index = Next(index))
        {
            if (_hashes[index] == mark && _entries[index].Is(grain))
                return index;
        }

        return -1;
    }

    private void Insert(int mark, in Entry entry)
    {
        var index = HomeOf(mark);
        while (_hashes[index] != 0)
            index = Next(index);
        _hashes[index] = mark;
        _entries[index] = entry;
    }

    /// <summary>Moves entries behind the gap into it that nobody would find otherwise: so no place need be marked as left.</summary>
    private void RemoveAt(int gap)
    {
        Count--;
        for (var index = Next(gap); _hashes[index] != 0; index = Next(index))
        {
            // Not when the entry's home lies behind the gap, on the way from the gap to the entry.
            var home = HomeOf(_hashes[index]);
            if (gap <= index ? gap < home && home <= index : gap < home || home <= index)
                continue;
            _hashes[gap] = _hashes[index];
            _entries[gap] = _entries[index];
            gap = index;
        }

        _hashes[gap] = 0;
        _entries[gap] = default;
    }

    private void Grow()
    {
        var (hashes, entries) = (_hashes, _entries);
        // By a quarter: the table is small, and what is empty in it is empty in each of 4,096.
        var capacity = entries.Length + Math.Max(entries.Length >> 2, FirstCapacity);
        _hashes = new int[capacity];
        _entries = new Entry[capacity];
        for (var index = 0; index < entries.Length; index++)
        {
            if (hashes[index] != 0)
                Insert(hashes[index], entries[index]);
        }
    }

    /// <summary>The key's own hash: of the grains of one slot, those that differ in the type only are few.</summary>
    private static int Mark(in GrainId grain) => grain.Key.GetUniformHashCode() is var hash && hash != 0 ? (int)hash : 1;

    /// <summary>All bits of the hash decide, as those of one slot have some in common.</summary>
    private int HomeOf(int mark) => (int)(((ulong)((uint)mark * 0x85EBCA6Bu) * (uint)_entries.Length) >> 32);

    private int Next(int index) => index + 1 == _entries.Length ? 0 : index + 1;

    private readonly struct Entry(byte[]? key, Residence residence, ActivationId activation, long epoch)
    {
        public Residence Residence => residence;

        public Location Location => new(residence.Silo, activation, epoch);

        public bool Is(in GrainId grain) => grain.Key.AsSpan().SequenceEqual(key) && grain.Type.Equals(residence.Type);

        /// <param name="mark">The hash of the key, except that a hash of 0 is kept as 1.</param>
        public GrainId Grain(int mark) =>
            new(residence.Type, mark != 1 ? IdSpan.UnsafeCreate(key, mark) : key is null ? default : new IdSpan(key));
    }
}

/// <summary>A kind of grain on a silo, as all entries of the directory share it.</summary>
internal sealed class Residence(GrainType type, SiloAddress silo)
{
    /// <summary>The kind.</summary>
    public GrainType Type { get; } = type;

    /// <summary>The silo.</summary>
    public SiloAddress Silo { get; } = silo;
}

/// <summary>The residences of one partition: as many as there are kinds of grains times silos. Any thread.</summary>
internal sealed class Residences
{
    private readonly ConcurrentDictionary<(GrainType Type, SiloAddress Silo), Residence> _known = new();
    private Residence? _last;

    /// <summary>How many are kept.</summary>
    public int Count => _known.Count;

    /// <summary>The one object for this kind and silo.</summary>
    public Residence Get(GrainType type, SiloAddress silo)
    {
        // Who registers many grains registers them of one kind and for one silo.
        if (Volatile.Read(ref _last) is { } last && last.Type.Equals(type) && last.Silo.Equals(silo))
            return last;
        var found = _known.TryGetValue((type, silo), out var known)
            ? known
            : _known.GetOrAdd((type, silo), static key => new Residence(key.Type, key.Silo));
        Volatile.Write(ref _last, found);
        return found;
    }

    /// <summary>Forgets the silos that are gone; entries that still name them keep what they have.</summary>
    public void Forget(Func<SiloAddress, bool> isGone)
    {
        foreach (var (key, _) in _known)
        {
            if (isGone(key.Silo))
                _known.TryRemove(key, out _);
        }

        Volatile.Write(ref _last, null);
    }
}
