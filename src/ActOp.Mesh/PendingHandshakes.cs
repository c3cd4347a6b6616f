using System.Buffers.Binary;

namespace ActOp.Mesh;

/// <summary>
/// The accepted connections whose handshake is not over. Owns a place for each, taken by <see cref="Enter"/> and returned by
/// <see cref="Leave"/> (it joined a session, or was closed), and one timer for all. Strangers and those that have proved themselves have
/// places apart, so the ones do not take those of the others; among themselves, see <see cref="HandshakeQuota"/>.
/// <para>Threads: any; one gate, taken with no other taken inside (links are aborted outside of it).</para>
/// </summary>
internal sealed class PendingHandshakes : IDisposable
{
    /// <summary>Places freed at once when descriptors run out, so that the next connections find some too.</summary>
    private const int EvictedForDescriptors = 8;

    private readonly Lock _gate = new();
    private readonly MeshOptions _options;
    private readonly TimeProvider _time;
    private readonly HandshakeQuota _strangers;
    private readonly HandshakeQuota _proven;

    // In the order in which their time ends.
    private readonly LinkedList<Link> _silent = [];
    private readonly LinkedList<Link> _speaking = [];
    private readonly ITimer _timer;
    private bool _isTimerSet;

    public PendingHandshakes(MeshOptions options, TimeProvider time)
    {
        _options = options;
        _time = time;
        _strangers = new HandshakeQuota(options.MaxPendingHandshakes, options.Random);
        _proven = new HandshakeQuota(options.MaxPendingHandshakes, options.Random);
        _timer = time.CreateTimer(_ => EndExpired(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Handshakes under way.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
                return _silent.Count + _speaking.Count;
        }
    }

    /// <summary>
    /// Takes a place. False if there is none: the link has one of the last descriptors, and there is no stranger to be replaced.
    /// </summary>
    public bool Enter(Link link)
    {
        var evicted = new List<Link>();
        lock (_gate)
        {
            for (var wanted = link.Stream.TakesReserve ? EvictedForDescriptors : 0; wanted > 0 && _strangers.Count > 0; wanted--)
                Evict(_strangers.Pick(), evicted);

            if (link.Stream.TakesReserve && evicted.Count == 0)
                return false;

            Invariant.Holds(link.Handshake is null && link.HandshakeQuota is null);
            MakeRoom(_strangers, evicted);
            _strangers.Add(link);
            link.HandshakeSince = _time.GetTimestamp();
            link.Handshake = _silent.AddLast(link);
            Invariant.Holds(_silent.Count + _speaking.Count == _strangers.Count + _proven.Count);
            SetTimer();
        }

        Abort(evicted, DisconnectReason.TooManyHandshakes);
        return true;
    }

    /// <summary>A part of the hello was received: from now on the limit of the handshake applies, not that of the first byte.</summary>
    public void Spoke(Link link)
    {
        lock (_gate)
            BeginToSpeak(link);
    }

    /// <summary>
    /// The hello was accepted: the dialler knows the ids, and the secret if there is one. No stranger takes its place now.
    /// </summary>
    public void Proved(Link link)
    {
        var evicted = new List<Link>();
        lock (_gate)
        {
            if (link.Handshake is null)
                return;

            BeginToSpeak(link);
            _strangers.Remove(link);
            MakeRoom(_proven, evicted);
            _proven.Add(link);
            Invariant.Holds(_silent.Count + _speaking.Count == _strangers.Count + _proven.Count);
        }

        Abort(evicted, DisconnectReason.TooManyHandshakes);
    }

    /// <summary>Returns the place, if the link has one.</summary>
    public void Leave(Link link)
    {
        lock (_gate)
        {
            Remove(link);
            Invariant.Holds(_silent.Count + _speaking.Count == _strangers.Count + _proven.Count);
        }
    }

    public void Dispose() => _timer.Dispose();

    private static void Remove(Link link)
    {
        if (link.Handshake is { } node)
        {
            node.List!.Remove(node);
            link.Handshake = null;
            link.HandshakeQuota!.Remove(link);
        }
    }

    private static void Evict(Link link, List<Link> evicted)
    {
        evicted.Add(link);
        Remove(link);
    }

    private static void MakeRoom(HandshakeQuota quota, List<Link> evicted)
    {
        if (quota.IsFull)
            Evict(quota.Pick(), evicted);
    }

    private static void Abort(List<Link> links, DisconnectReason reason)
    {
        foreach (var link in links)
            link.Abort(reason);
    }

    private void BeginToSpeak(Link link)
    {
        Invariant.Held(_gate);
        if (link.Handshake is { } node && node.List == _silent)
        {
            _silent.Remove(node);
            link.HandshakeSince = _time.GetTimestamp();
            _speaking.AddLast(node);
            Invariant.Holds(node.Previous is null || node.Previous.Value.HandshakeSince <= link.HandshakeSince);
        }
    }

    private void EndExpired()
    {
        var expired = new List<Link>();
        lock (_gate)
        {
            _isTimerSet = false;
            while (_silent.First is { } silent && Left(silent.Value, _options.FirstByteTimeout) <= TimeSpan.Zero)
                Evict(silent.Value, expired);

            while (_speaking.First is { } speaking && Left(speaking.Value, _options.HandshakeTimeout) <= TimeSpan.Zero)
                Evict(speaking.Value, expired);

            Invariant.Holds(_silent.Count + _speaking.Count == _strangers.Count + _proven.Count);
            SetTimer();
        }

        Abort(expired, DisconnectReason.HandshakeTimeout);
    }

    private TimeSpan Left(Link link, TimeSpan limit) => limit - _time.GetElapsedTime(link.HandshakeSince);

    /// <summary>
    /// Sets the timer for the first of each list. It may fire too early for links that have sent bytes meanwhile, never too late.
    /// </summary>
    private void SetTimer()
    {
        Invariant.Held(_gate);
        if (_isTimerSet || (_silent.First ?? _speaking.First) is null)
            return;

        var next = TimeSpan.MaxValue;
        if (_silent.First is { } silent)
            next = Left(silent.Value, _options.FirstByteTimeout);

        if (_speaking.First is { } speaking && Left(speaking.Value, _options.HandshakeTimeout) is var left && left < next)
            next = left;

        _isTimerSet = true;
        _timer.Change(next > TimeSpan.Zero ? next : TimeSpan.Zero, Timeout.InfiniteTimeSpan);
    }
}

/// <summary>
/// A limited number of places for handshakes. When all are taken, <see cref="Pick"/> names the one that gives its place to the next: of
/// some that are drawn at random, the first whose address has more than its share (a quarter of the places), else the first that was drawn.
/// <para>Nothing that a flood does changes the odds: a handshake whose address is within its share loses its place to each newcomer with a
/// probability of at most one in the number of places, and is all but safe from a flood that comes from one address. One that needs the
/// time T while R connections arrive in a second completes with at least exp(-RT / places): 98 % for T = 20 ms, R = 1,000 and 1,024 places.
/// Who has shared his address with a flood has the same odds as the flood's connections, which are no worse.</para>
/// <para>Threads: guarded by the gate of <see cref="PendingHandshakes"/>.</para>
/// </summary>
internal sealed class HandshakeQuota(int limit, RandomBytes random)
{
    private const int Draws = 16;

    private readonly List<Link> _links = [];
    private readonly Dictionary<object, int> _ofAddress = [];
    private readonly byte[] _drawn = new byte[Draws * sizeof(uint)];

    public int Count => _links.Count;

    public bool IsFull => _links.Count >= limit;

    private int Share => Math.Max(limit / 4, 1);

    public void Add(Link link)
    {
        Invariant.Holds(link.HandshakeQuota is null && _links.Count < limit);
        (link.HandshakeQuota, link.HandshakeIndex) = (this, _links.Count);
        _links.Add(link);
        var address = AddressOf(link);
        _ofAddress[address] = _ofAddress.GetValueOrDefault(address) + 1;
    }

    public void Remove(Link link)
    {
        Invariant.Holds(link.HandshakeQuota == this && _links[link.HandshakeIndex] == link);
        var last = _links[^1];
        _links[link.HandshakeIndex] = last;
        last.HandshakeIndex = link.HandshakeIndex;
        _links.RemoveAt(_links.Count - 1);
        link.HandshakeQuota = null;
        var address = AddressOf(link);
        if (--_ofAddress[address] == 0)
            _ofAddress.Remove(address);

        Invariant.Holds(_ofAddress.Count <= _links.Count);
    }

    /// <summary>The handshake that is to give its place; there must be one.</summary>
    public Link Pick()
    {
        Invariant.Holds(_links.Count > 0);
        random(_drawn);
        for (var draw = 0; draw < Draws; draw++)
        {
            var drawn = Drawn(draw);
            if (_ofAddress[AddressOf(drawn)] > Share)
                return drawn;
        }

        return Drawn(0);
    }

    private Link Drawn(int draw)
        => _links[(int)(BinaryPrimitives.ReadUInt32LittleEndian(_drawn.AsSpan(draw * sizeof(uint))) % (uint)_links.Count)];

    private static object AddressOf(Link link) => ConnectionCounts.AddressOf(link.RemoteEndPoint);
}
