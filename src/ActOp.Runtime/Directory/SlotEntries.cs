using System.Collections.Concurrent;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>
/// The registrations of one slot: entries in chunks, and a hash table of their indexes with open addressing and linear probing. Compact,
/// because these dominate the memory of a directory of a million grains. Owned by its slot and guarded by the slot's lock.
/// </summary>
/// <remarks>
/// <para>An entry takes 40 bytes and never moves because the slot grows: only the table is replaced, with 8 bytes for a bucket. A slot
/// whose entries were copied into a larger array each time allocated six times what it holds. The entry that was added last takes the place
/// of one that is removed, so the chunks have no gaps.</para>
/// <para>The object of the grain's key is kept, so a registration of this silo shares it with the activation. Type and silo are one
/// reference to an object shared by <see cref="Residences"/>.</para>
/// <para>The hash of a key is the same in every process, so whoever chooses keys can choose many with one hash. A slot in which an entry
/// has come far from its bucket changes over to a random hash for good.</para>
/// </remarks>
internal sealed class SlotEntries
{
    /// <summary>
    /// How many buckets a probe passes before the slot changes over to random hashes. A million grains are some 250 in each of the 4,096
    /// slots.
    /// </summary>
    internal const int LongestRun = 1_024;

    private const int FirstCapacity = 4;
    private const int ChunkBits = 3;
    private const int ChunkSize = 1 << ChunkBits;

    private Bucket[] _buckets = new Bucket[FirstCapacity];

    /// <summary>Chunks are filled in order; the first one grows until it has the length of the others.</summary>
    private Entry[]?[] _chunks = [new Entry[FirstCapacity]];

    /// <summary>The hash that gives an entry its bucket is random. Marks are not.</summary>
    private bool _isRandom;

    /// <summary>Entries held.</summary>
    public int Count { get; private set; }

    /// <summary>Where the grain is registered.</summary>
    public bool TryGet(in GrainId grain, out Location location)
    {
        var bucket = IndexOf(grain);
        location = bucket < 0 ? default : At(_buckets[bucket].Index).Location;
        return bucket >= 0;
    }

    /// <summary>Adds a registration or replaces the grain's.</summary>
    public void Set(in GrainId grain, in Location location, Residences residences)
    {
        var residence = residences.Get(grain.Type, location.Silo);
        var entry = new Entry(IdSpan.UnsafeGetArray(grain.Key), residence, location.Activation, location.Epoch);
        var bucket = IndexOf(grain, out var passed);
        if (bucket >= 0)
        {
            // Takes the key object of the new activation, so that the old one can be collected.
            At(_buckets[bucket].Index) = entry;
            return;
        }

        // At most seven eighths full: with linear probing, a failed search then reads some tens of adjacent hashes.
        if (Count + 1 > _buckets.Length - Math.Max(1, _buckets.Length >> 3))
        {
            // Grows by half, because the unused part counts for each of 4,096 slots.
            Replace(_buckets.Length + Math.Max(_buckets.Length >> 1, FirstCapacity));
        }

        if (passed > LongestRun && !_isRandom)
        {
            _isRandom = true;
            Replace(_buckets.Length);
        }

        MakeRoom();
        if (Invariant.AreChecked)
            Invariant.Holds(At(Count).Residence is null);
        At(Count) = entry;
        Insert(new Bucket(Mark(grain), Count++));
        // A search ends at a free bucket.
        Invariant.Holds(Count < _buckets.Length);
    }

    /// <summary>Removes the grain's registration; false when there is none.</summary>
    public bool Remove(in GrainId grain)
    {
        var bucket = IndexOf(grain);
        if (bucket >= 0)
            RemoveAt(bucket);
        return bucket >= 0;
    }

    /// <summary>Removes the registrations on silos that <paramref name="isGone"/> says are gone.</summary>
    public void RemoveWhere(Func<SiloAddress, bool> isGone)
    {
        for (var bucket = 0; bucket < _buckets.Length;)
        {
            // A removed entry may be replaced by another one that must be checked too, unless it was already checked at the front of the
            // table.
            if (_buckets[bucket].Mark != 0 && isGone(At(_buckets[bucket].Index).Residence.Silo))
                RemoveAt(bucket);
            else
                bucket++;
        }
    }

    /// <summary>Adds all registrations to a list.</summary>
    public void CopyTo(List<Registration> list)
    {
        foreach (var bucket in _buckets)
        {
            if (bucket.Mark != 0)
                list.Add(new Registration(At(bucket.Index).Grain(bucket.Mark), At(bucket.Index).Location));
        }
    }

    private ref Entry At(int index) => ref _chunks[index >> ChunkBits]![index & (ChunkSize - 1)];

    private int IndexOf(in GrainId grain) => IndexOf(grain, out _);

    /// <param name="grain">The grain.</param>
    /// <param name="passed">How many buckets were passed.</param>
    private int IndexOf(in GrainId grain, out int passed)
    {
        var mark = Mark(grain);
        passed = 0;
        for (var bucket = HomeOf(mark, grain.Key.AsSpan()); _buckets[bucket].Mark != 0; bucket = Next(bucket), passed++)
        {
            if (_buckets[bucket].Mark == mark && At(_buckets[bucket].Index).Is(grain))
                return bucket;
        }

        return -1;
    }

    /// <summary>How many buckets are passed to find the grain. For tests.</summary>
    internal int DistanceOf(in GrainId grain)
    {
        IndexOf(grain, out var passed);
        return passed;
    }

    private void Insert(in Bucket added)
    {
        var bucket = HomeOf(added);
        while (_buckets[bucket].Mark != 0)
            bucket = Next(bucket);
        _buckets[bucket] = added;
    }

    private void RemoveAt(int bucket)
    {
        Invariant.Holds(Count > 0 && _buckets[bucket].Mark != 0 && _buckets[bucket].Index < Count);
        Count--;
        var index = _buckets[bucket].Index;
        if (index != Count)
        {
            _buckets[BucketOf(Count)].Index = index;
            At(index) = At(Count);
        }

        At(Count) = default;
        CloseGap(bucket);
        // One empty chunk is kept for the next entries.
        if ((Count >> ChunkBits) + 2 is var empty && empty < _chunks.Length)
            _chunks[empty] = null;
    }

    /// <summary>The position in the table of the entry with this index.</summary>
    private int BucketOf(int index)
    {
        var bucket = HomeOf(new Bucket(At(index).Mark, index));
        while (_buckets[bucket].Mark == 0 || _buckets[bucket].Index != index)
            bucket = Next(bucket);
        return bucket;
    }

    /// <summary>Moves positions behind the gap into it if they could not be found otherwise, so that no tombstones are needed.</summary>
    private void CloseGap(int gap)
    {
        for (var bucket = Next(gap); _buckets[bucket].Mark != 0; bucket = Next(bucket))
        {
            // Not when the entry's home lies behind the gap, on the way from the gap to the entry.
            var home = HomeOf(_buckets[bucket]);
            if (gap <= bucket ? gap < home && home <= bucket : gap < home || home <= bucket)
                continue;
            _buckets[gap] = _buckets[bucket];
            gap = bucket;
        }

        _buckets[gap] = default;
    }

    private void Replace(int capacity)
    {
        Invariant.Holds(capacity > Count);
        var buckets = _buckets;
        _buckets = new Bucket[capacity];
        foreach (var bucket in buckets)
        {
            if (bucket.Mark != 0)
                Insert(bucket);
        }
    }

    /// <summary>Makes room for one more entry.</summary>
    private void MakeRoom()
    {
        var chunk = Count >> ChunkBits;
        if (chunk == 0 && Count == FirstCapacity)
            Array.Resize(ref _chunks[0], ChunkSize);
        if (chunk == _chunks.Length)
            Array.Resize(ref _chunks, chunk + 1 + (chunk >> 1));
        _chunks[chunk] ??= new Entry[ChunkSize];
    }

    /// <summary>The key's own hash: of the grains of one slot, those that differ in the type only are few.</summary>
    private static int Mark(in GrainId grain) => MarkOf(grain.Key.GetUniformHashCode());

    private static int MarkOf(uint hash) => hash != 0 ? (int)hash : 1;

    /// <summary>Mixes all bits of the hash, because hashes within one slot share some bits.</summary>
    private int HomeOf(int mark, ReadOnlySpan<byte> key) =>
        (int)(((ulong)(_isRandom ? StableHash.Random(key) : (uint)mark * 0x85EBCA6Bu) * (uint)_buckets.Length) >> 32);

    private int HomeOf(in Bucket bucket) => HomeOf(bucket.Mark, _isRandom ? At(bucket.Index).Key : default);

    private int Next(int bucket) => bucket + 1 == _buckets.Length ? 0 : bucket + 1;

    /// <param name="Mark">The hash of the key, except that a hash of 0 is kept as 1; 0 where there is no entry. Probing reads these only.
    /// </param>
    /// <param name="Index">Where the entry is.</param>
    private record struct Bucket(int Mark, int Index);

    private readonly struct Entry(byte[]? key, Residence residence, ActivationId activation, long epoch)
    {
        public ReadOnlySpan<byte> Key => key;

        public Residence Residence => residence;

        public Location Location => new(residence.Silo, activation, epoch);

        /// <summary>Computed from the key again; used only by removals.</summary>
        public int Mark => MarkOf(key is null ? 0 : new IdSpan(key).GetUniformHashCode());

        public bool Is(in GrainId grain) => grain.Key.AsSpan().SequenceEqual(key) && grain.Type.Equals(residence.Type);

        /// <param name="mark">The hash of the key, except that a hash of 0 is kept as 1.</param>
        public GrainId Grain(int mark) =>
            new(residence.Type, mark != 1 ? IdSpan.UnsafeCreate(key, mark) : key is null ? default : new IdSpan(key));
    }
}

/// <summary>A grain type on a silo, shared by all entries of the directory.</summary>
internal sealed class Residence(GrainType type, SiloAddress silo)
{
    /// <summary>The grain type.</summary>
    public GrainType Type { get; } = type;

    /// <summary>The silo.</summary>
    public SiloAddress Silo { get; } = silo;
}

/// <summary>The residences of one partition: one per grain type and silo. Any thread.</summary>
internal sealed class Residences
{
    private readonly ConcurrentDictionary<(GrainType Type, SiloAddress Silo), Residence> _known = new();
    private Residence? _last;

    /// <summary>How many are kept.</summary>
    public int Count => _known.Count;

    /// <summary>The object for this grain type and silo.</summary>
    public Residence Get(GrainType type, SiloAddress silo)
    {
        // Consecutive registrations mostly have the same grain type and silo.
        if (Volatile.Read(ref _last) is { } last && last.Type.Equals(type) && last.Silo.Equals(silo))
            return last;
        var found = _known.TryGetValue((type, silo), out var known)
            ? known
            : _known.GetOrAdd((type, silo), static key => new Residence(key.Type, key.Silo));
        Volatile.Write(ref _last, found);
        return found;
    }

    /// <summary>Removes the silos that are gone. Entries that refer to them keep their objects.</summary>
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
