using System.Collections.Concurrent;
using System.Numerics;
using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>
/// The last known locations of grains. Bounded; when a set of eight is full, the entry not used for longest (clock) makes room. Reads take
/// no lock and allocate nothing; a location on a silo that a view declared dead is never returned. Entries may be stale: messages that
/// reach the wrong silo are forwarded, and the reply corrects the cache.
/// </summary>
internal sealed class LocationCache
{
    private const int SetsPerSegment = 128;
    private readonly CacheSegment?[] _segments;
    private readonly ConcurrentDictionary<SiloAddress, CachedSilo> _silos = new();
    private readonly int _setMask;
    private readonly bool _isOff;
    private readonly CustomCache? _custom;
    private readonly int _lifetime;
    private long _evictions;
    private int _now;
    private int _sweptSegment;
    private double _sweepDebt;
    private View _view = View.Empty;

    /// <summary>
    /// Creates a cache of at least <paramref name="capacity"/> entries (rounded up to a power of two, memory taken as it fills).
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is not positive.</exception>
    /// <param name="capacity">Number of entries.</param>
    /// <param name="isOff">Whether nothing is kept.</param>
    /// <param name="lifetime">How long an entry is kept after its last <see cref="SetLocation"/>; infinite by default.</param>
    /// <param name="custom">The cache of the application, which is used instead; null for none.</param>
    public LocationCache(int capacity, bool isOff = false, TimeSpan? lifetime = null, CustomCache? custom = null)
    {
        _custom = custom;
        _isOff = isOff || custom is not null;
        _lifetime = lifetime is { Ticks: > 0 } time ? (int)Math.Min(time.TotalMilliseconds, int.MaxValue) : int.MaxValue;
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(capacity);
        var sets = (int)BitOperations.RoundUpToPowerOf2((uint)Math.Max(1, (capacity + CacheSegment.Ways - 1) / CacheSegment.Ways));
        _setMask = sets - 1;
        _segments = new CacheSegment?[Math.Max(1, sets / SetsPerSegment)];
    }

    /// <summary>Entries it can hold.</summary>
    public int Capacity => (_setMask + 1) * CacheSegment.Ways;

    /// <summary>Number of live entries evicted so far.</summary>
    public long Evictions => Volatile.Read(ref _evictions);

    /// <summary>Entries on living silos; counts them all, for diagnostics.</summary>
    public int Count
    {
        get
        {
            var count = 0;
            foreach (var segment in _segments)
            {
                for (var index = 0; segment is not null && index < segment.Tags.Length; index++)
                    count += segment[index] is { Silo.IsDead: false } ? 1 : 0;
            }

            return count;
        }
    }

    /// <summary>The cached location of a grain, if there is one on a silo that is not dead.</summary>
    public bool TryGet(in GrainId grain, out Location location)
    {
        var entry = FindLocation(grain);
        location = entry?.Location ?? default;
        return entry is not null;
    }

    /// <summary>
    /// The entry behind <see cref="TryGet"/>, which may be kept until it is stale or its silo dead; null when there is none.
    /// </summary>
    public CachedLocation? FindLocation(in GrainId grain)
    {
        var hash = grain.GetUniformHashCode();
        var set = SetOf(hash);
        var segment = Volatile.Read(ref _segments[set / SetsPerSegment]);
        if (segment is not null && Seek(segment, set % SetsPerSegment, hash, grain, out _) is { Silo.IsDead: false } entry)
        {
            if (!entry.Used)
                entry.Used = true;

            return entry;
        }

        return _custom is null ? null : FindInCustom(grain);
    }

    /// <summary>Removes the entry of a grain, because the grain was activated on this silo.</summary>
    public void Forget(in GrainId grain)
    {
        if (TryGet(grain, out var location))
            Remove(grain, location);
    }

    /// <summary>Remembers a location unless a newer one (by epoch) is known on a living silo, or the silo is dead.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="location">Where it is, or is to be.</param>
    /// <param name="replaces">
    /// The directory does not list the grain, so whatever is known is out of date. A location that was only chosen has no epoch.
    /// </param>
    public void SetLocation(in GrainId grain, in Location location, bool replaces = false)
    {
        if (_isOff)
        {
            if (!Volatile.Read(ref _view).IsDead(location.Silo))
                _custom?.SetLocation(grain, location);
            return;
        }

        var silo = Intern(location.Silo);
        if (silo.IsDead)
            return;

        var hash = grain.GetUniformHashCode();
        var set = SetOf(hash);
        var segment = SegmentOf(set);
        set %= SetsPerSegment;
        lock (segment.Gate)
        {
            var known = Seek(segment, set, hash, grain, out var index);
            if (!replaces && known is { Silo.IsDead: false } && known.Epoch > location.Epoch)
                return;

            if (known is null)
            {
                index = segment.Victim(set);
                _evictions += segment[index] is { Silo.IsDead: false } ? 1 : 0;
            }

            Invariant.Holds(index / CacheSegment.Ways == set);
            segment.Set(index, Tag(hash), new CachedLocation(grain, silo, location.Activation, location.Epoch)
            {
                StoredAt = Volatile.Read(ref _now),
            });
        }
    }

    /// <summary>Removes a location if it is still the cached one.</summary>
    public bool Remove(in GrainId grain, in Location stale)
    {
        var hash = grain.GetUniformHashCode();
        var set = SetOf(hash);
        if (Volatile.Read(ref _segments[set / SetsPerSegment]) is not { } segment)
            return _custom?.Remove(grain, stale) ?? false;

        lock (segment.Gate)
        {
            var known = Seek(segment, set % SetsPerSegment, hash, grain, out var index);
            if (known is null || !known.Location.IsSameActivation(stale))
                return false;

            segment.Set(index, 0, null);
            return true;
        }
    }

    /// <summary>Adopts a view: locations on dead silos are no longer valid.</summary>
    public void OnView(View view)
    {
        Volatile.Write(ref _view, view);
        foreach (var (address, silo) in _silos)
        {
            if (view.IsDead(address))
            {
                silo.IsDead = true;
                _silos.TryRemove(address, out _);
            }
        }
    }

    /// <summary>
    /// Removes entries that are past their lifetime. Each call visits a few segments, so that all are visited in an eighth of the lifetime.
    /// One caller at a time, about every <paramref name="period"/> ms.
    /// </summary>
    public void Expire(long now, long period)
    {
        Volatile.Write(ref _now, (int)now);
        if (_lifetime == int.MaxValue)
            return;

        for (_sweepDebt += 8.0 * _segments.Length * period / _lifetime; _sweepDebt >= 1; _sweepDebt--)
        {
            _sweptSegment = (_sweptSegment + 1) % _segments.Length;
            if (Volatile.Read(ref _segments[_sweptSegment]) is { } segment)
                Expire(segment, (int)now);
        }
    }

    private void Expire(CacheSegment segment, int now)
    {
        lock (segment.Gate)
        {
            for (var index = 0; index < segment.Tags.Length; index++)
            {
                // The difference is right also when the milliseconds overflow.
                if (segment[index] is { } entry && now - entry.StoredAt >= _lifetime)
                    segment.Set(index, 0, null);
            }
        }
    }

    /// <summary>An entry that nobody may keep, because the application may change its cache at any time.</summary>
    private CachedLocation? FindInCustom(in GrainId grain)
    {
        if (_custom!.FindLocation(grain) is not { IsNone: false } found || Intern(found.Silo) is not { IsDead: false } silo)
            return null;
        return new CachedLocation(grain, silo, found.Activation, found.Epoch) { IsStale = true };
    }

    private CachedSilo Intern(SiloAddress address)
    {
        if (!_silos.TryGetValue(address, out var silo))
            silo = _silos.GetOrAdd(address, static address => new CachedSilo(address));

        // Checked after it became visible to OnView: either that one or this one sees that the silo is dead.
        if (Volatile.Read(ref _view).IsDead(address))
        {
            silo.IsDead = true;
            _silos.TryRemove(address, out _);
        }

        return silo;
    }

    private CacheSegment SegmentOf(int set)
    {
        ref var entry = ref _segments[set / SetsPerSegment];
        if (Volatile.Read(ref entry) is { } segment)
            return segment;

        var fresh = new CacheSegment(Math.Min(SetsPerSegment, _setMask + 1));
        return Interlocked.CompareExchange(ref entry, fresh, null) ?? fresh;
    }

    private int SetOf(uint hash) => (int)((hash * 0x9E3779B1u) >> 4) & _setMask;

    private static uint Tag(uint hash) => hash | 1;

    private static CachedLocation? Seek(CacheSegment segment, int set, uint hash, in GrainId grain, out int index)
    {
        var tag = Tag(hash);
        var start = set * CacheSegment.Ways;
        var tags = segment.Tags.AsSpan(start, CacheSegment.Ways);
        for (var way = 0; way < tags.Length; way++)
        {
            if (tags[way] == tag && segment[start + way] is { } entry && entry.Grain.Equals(grain))
            {
                index = start + way;
                return entry;
            }
        }

        index = -1;
        return null;
    }
}

/// <summary>
/// A part of the <see cref="LocationCache"/> with its own write lock: sets of eight entries. Readers take no lock; a tag (32 bits of the
/// hash) tells them which entry to look at, and the entry itself whether it is the right one, so a torn pair of tag and entry is just a
/// miss.
/// </summary>
internal sealed class CacheSegment(int sets)
{
    /// <summary>Entries in a set.</summary>
    public const int Ways = 8;

    private readonly CachedLocation?[] _entries = new CachedLocation?[sets * Ways];
    private readonly byte[] _hands = new byte[sets];

    /// <summary>Guards writes.</summary>
    public Lock Gate { get; } = new();

    /// <summary>The tags, in the order of the entries.</summary>
    public uint[] Tags { get; } = new uint[sets * Ways];

    /// <summary>Reads an entry.</summary>
    public CachedLocation? this[int index] => Volatile.Read(ref _entries[index]);

    /// <summary>Replaces an entry.</summary>
    public void Set(int index, uint tag, CachedLocation? entry)
    {
        Invariant.Held(Gate);
        Invariant.Holds((entry is null) == (tag == 0));
        if (_entries[index] is { } before)
            before.IsStale = true;

        Volatile.Write(ref _entries[index], entry);
        Volatile.Write(ref Tags[index], tag);
    }

    /// <summary>
    /// The index of an empty or dead entry of the set, else of the first one not used since the hand last passed. Under the gate.
    /// </summary>
    public int Victim(int set)
    {
        Invariant.Held(Gate);
        var start = set * Ways;
        for (var way = 0; way < Ways; way++)
        {
            if (_entries[start + way] is not { Silo.IsDead: false })
                return start + way;
        }

        for (var turn = 0; ; turn++)
        {
            var index = start + (_hands[set]++ % Ways);
            var entry = _entries[index]!;
            if (!entry.Used || turn == 2 * Ways)
                return index;

            entry.Used = false;
        }
    }
}

/// <summary>One entry of the <see cref="LocationCache"/>. Immutable but for its marks.</summary>
internal sealed class CachedLocation(GrainId grain, CachedSilo silo, ActivationId activation, long epoch)
{
    /// <summary>
    /// Whether a reader used it since the clock hand passed. Written only when it changes, so that readers share the line.
    /// </summary>
    public bool Used;

    /// <summary>Set when the cache no longer holds the entry: holders of it must look it up again.</summary>
    public volatile bool IsStale;

    /// <summary>Time of the last sweep before it was stored, in ms; overflows.</summary>
    public int StoredAt { get; init; }

    /// <summary>The grain.</summary>
    public GrainId Grain { get; } = grain;

    /// <summary>The silo, with its liveness.</summary>
    public CachedSilo Silo { get; } = silo;

    /// <summary>The activation.</summary>
    public ActivationId Activation { get; } = activation;

    /// <summary>The epoch of its registration.</summary>
    public long Epoch { get; } = epoch;

    /// <summary>The location.</summary>
    public Location Location => new(Silo.Address, Activation, Epoch);
}

/// <summary>A silo, shared by all cached locations on it: one write invalidates them all.</summary>
internal sealed class CachedSilo(SiloAddress address)
{
    private View? _trustedBy;

    /// <summary>Set when a view declares the silo dead; never unset.</summary>
    public volatile bool IsDead;

    /// <summary>The last view in which the silo was found callable. Any thread.</summary>
    public View? TrustedBy
    {
        get => Volatile.Read(ref _trustedBy);
        set => Volatile.Write(ref _trustedBy, value);
    }

    /// <summary>The silo.</summary>
    public SiloAddress Address { get; } = address;
}

/// <summary>Where a grain is activated.</summary>
/// <param name="Silo">The silo; null for "nowhere" (<c>default</c>).</param>
/// <param name="Activation">The activation, never reused.</param>
/// <param name="Epoch">
/// Rises with every registration of the grain: the view in which the slot's owner served it in the upper 24 bits, the owner's count in the
/// lower 40. The higher epoch is the newer location, regardless of the source. 0: not registered yet.
/// </param>
[Orleans.GenerateSerializer]
internal readonly record struct Location(SiloAddress Silo, ActivationId Activation, long Epoch)
{
    /// <summary>Whether this is no location.</summary>
    public bool IsNone => Silo is null;

    /// <summary>Whether both name the same activation, whatever their epochs.</summary>
    public bool IsSameActivation(in Location other) => Activation.Equals(other.Activation) && Equals(Silo, other.Silo);
}
