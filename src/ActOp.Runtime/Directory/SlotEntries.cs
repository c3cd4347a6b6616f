using System.Collections.Concurrent;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>
/// The registrations of one slot: entries in chunks, and a hash table of their indexes with open addressing and linear probing. Compact,
/// because these dominate the memory of a directory of a million grains. Owned by its slot and guarded by the slot's lock.
/// </summary>
/// <remarks>
/// <para>An entry takes 40 bytes and never moves because the slot grows: only the table is replaced, with 8 bytes for a place. A slot whose
/// entries were copied into a larger array each time allocated six times what it holds. The entry that was added last takes the place of
/// one that is removed, so the chunks have no gaps.</para>
/// <para>The object of the grain's key is kept, so a registration of this silo shares it with the activation. Type and silo are one
/// reference to an object shared by <see cref="Residences"/>.</para>
/// <para>The hash of a key is the same in every process, so whoever chooses keys can choose many with one hash. A slot in which an entry
/// has come far from its place changes over to a random hash for good.</para>
/// </remarks>
internal sealed class SlotEntries
{
    /// <summary>
    /// How many places a probe passes before the slot changes over to random hashes. A million grains are some 250 in each of the 4,096
    /// slots.
    /// </summary>
    internal const int LongestRun = 1_024;

    private const int FirstCapacity = 4;
    private const int ChunkBits = 3;
    private const int ChunkSize = 1 << ChunkBits;

    private Place[] _places = new Place[FirstCapacity];

    /// <summary>Chunks are filled in order; the first one grows until it has the length of the others.</summary>
    private Entry[]?[] _chunks = [new Entry[FirstCapacity]];

    /// <summary>The hash that gives an entry its place is random. Marks are not.</summary>
    private bool _isRandom;

    /// <summary>Entries held.</summary>
    public int Count { get; private set; }

    /// <summary>Where the grain is registered.</summary>
    public bool TryGet(in GrainId grain, out Location location)
    {
        var place = Find(grain);
        location = place < 0 ? default : At(_places[place].Index).Location;
        return place >= 0;
    }

    /// <summary>Adds a registration or replaces the grain's.</summary>
    public void Set(in GrainId grain, in Location location, Residences residences)
    {
        var residence = residences.Get(grain.Type, location.Silo);
        var entry = new Entry(IdSpan.UnsafeGetArray(grain.Key), residence, location.Activation, location.Epoch);
        var place = Find(grain, out var passed);
        if (place >= 0)
        {
            // Takes the key object of the new activation, so that the old one can be collected.
            At(_places[place].Index) = entry;
            return;
        }

        // At most seven eighths full: with linear probing, a failed search then reads some tens of adjacent hashes.
        if (Count + 1 > _places.Length - Math.Max(1, _places.Length >> 3))
        {
            // Grows by half, because the unused part counts for each of 4,096 slots.
            Replace(_places.Length + Math.Max(_places.Length >> 1, FirstCapacity));
        }

        if (passed > LongestRun && !_isRandom)
        {
            _isRandom = true;
            Replace(_places.Length);
        }

        MakeRoom();
        if (Invariant.AreChecked)
            Invariant.Holds(At(Count).Residence is null);
        At(Count) = entry;
        Insert(new Place(Mark(grain), Count++));
        // A search ends at a free place.
        Invariant.Holds(Count < _places.Length);
    }

    /// <summary>Removes the grain's registration; false when there is none.</summary>
    public bool Remove(in GrainId grain)
    {
        var place = Find(grain);
        if (place >= 0)
            RemoveAt(place);
        return place >= 0;
    }

    /// <summary>Removes the registrations on silos that <paramref name="isGone"/> says are gone.</summary>
    public void RemoveWhere(Func<SiloAddress, bool> isGone)
    {
        for (var place = 0; place < _places.Length;)
        {
            // A removed entry may be replaced by another one that must be checked too, unless it was already checked at the front of the
            // table.
            if (_places[place].Mark != 0 && isGone(At(_places[place].Index).Residence.Silo))
                RemoveAt(place);
            else
                place++;
        }
    }

    /// <summary>Adds all registrations to a list.</summary>
    public void CopyTo(List<Registration> list)
    {
        foreach (var place in _places)
        {
            if (place.Mark != 0)
                list.Add(new Registration(At(place.Index).Grain(place.Mark), At(place.Index).Location));
        }
    }

    private ref Entry At(int index) => ref _chunks[index >> ChunkBits]![index & (ChunkSize - 1)];

    private int Find(in GrainId grain) => Find(grain, out _);

    /// <param name="grain">The grain.</param>
    /// <param name="passed">How many places were passed.</param>
    private int Find(in GrainId grain, out int passed)
    {
        var mark = Mark(grain);
        passed = 0;
        for (var place = HomeOf(mark, grain.Key.AsSpan()); _places[place].Mark != 0; place = Next(place), passed++)
        {
            if (_places[place].Mark == mark && At(_places[place].Index).Is(grain))
                return place;
        }

        return -1;
    }

    /// <summary>How many places are passed to find the grain. For tests.</summary>
    internal int DistanceOf(in GrainId grain)
    {
        Find(grain, out var passed);
        return passed;
    }

    private void Insert(in Place added)
    {
        var place = HomeOf(added);
        while (_places[place].Mark != 0)
            place = Next(place);
        _places[place] = added;
    }

    private void RemoveAt(int place)
    {
        Invariant.Holds(Count > 0 && _places[place].Mark != 0 && _places[place].Index < Count);
        Count--;
        var index = _places[place].Index;
        if (index != Count)
        {
            _places[PlaceOf(Count)].Index = index;
            At(index) = At(Count);
        }

        At(Count) = default;
        CloseGap(place);
        // One empty chunk is kept for the next entries.
        if ((Count >> ChunkBits) + 2 is var empty && empty < _chunks.Length)
            _chunks[empty] = null;
    }

    /// <summary>The position in the table of the entry with this index.</summary>
    private int PlaceOf(int index)
    {
        var place = HomeOf(new Place(At(index).Mark, index));
        while (_places[place].Mark == 0 || _places[place].Index != index)
            place = Next(place);
        return place;
    }

    /// <summary>Moves positions behind the gap into it if they could not be found otherwise, so that no tombstones are needed.</summary>
    private void CloseGap(int gap)
    {
        for (var place = Next(gap); _places[place].Mark != 0; place = Next(place))
        {
            // Not when the entry's home lies behind the gap, on the way from the gap to the entry.
            var home = HomeOf(_places[place]);
            if (gap <= place ? gap < home && home <= place : gap < home || home <= place)
                continue;
            _places[gap] = _places[place];
            gap = place;
        }

        _places[gap] = default;
    }

    private void Replace(int capacity)
    {
        Invariant.Holds(capacity > Count);
        var places = _places;
        _places = new Place[capacity];
        foreach (var place in places)
        {
            if (place.Mark != 0)
                Insert(place);
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
        (int)(((ulong)(_isRandom ? StableHash.Random(key) : (uint)mark * 0x85EBCA6Bu) * (uint)_places.Length) >> 32);

    private int HomeOf(in Place place) => HomeOf(place.Mark, _isRandom ? At(place.Index).Key : default);

    private int Next(int place) => place + 1 == _places.Length ? 0 : place + 1;

    /// <param name="Mark">The hash of the key, except that a hash of 0 is kept as 1; 0 where there is no entry. Probing reads these only.
    /// </param>
    /// <param name="Index">Where the entry is.</param>
    private record struct Place(int Mark, int Index);

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
