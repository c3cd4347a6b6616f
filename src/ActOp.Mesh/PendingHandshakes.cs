namespace ActOp.Mesh;

/// <summary>
/// The accepted connections whose handshake is not over. Owns a place for each, taken by <see cref="Enter"/> and returned by
/// <see cref="Leave"/> (it joined a session, or was closed), and one timer for all. When the places are taken, a new connection gets that
/// of the oldest that has sent nothing, else of the oldest. So silent connections replace each other, and a dialler that answers the
/// greeting at once completes its handshake before it is replaced.
/// <para>Threads: any; one gate, taken with no other taken inside (links are aborted outside of it).</para>
/// </summary>
internal sealed class PendingHandshakes : IDisposable
{
    /// <summary>Places freed at once when descriptors run out, so that the next connections find some too.</summary>
    private const int EvictedForDescriptors = 8;

    private readonly Lock _gate = new();
    private readonly MeshOptions _options;
    private readonly TimeProvider _time;
    private readonly LinkedList<Link> _silent = [];
    private readonly LinkedList<Link> _speaking = [];
    private readonly ITimer _timer;
    private bool _isTimerSet;

    public PendingHandshakes(MeshOptions options, TimeProvider time)
    {
        _options = options;
        _time = time;
        _timer = time.CreateTimer(_ => EndExpired(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Handshakes under way.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _silent.Count + _speaking.Count;
            }
        }
    }

    /// <summary>
    /// Takes a place. False if there is none: the link has one of the last descriptors, and no silent connection can be replaced.
    /// </summary>
    public bool Enter(Link link)
    {
        var evicted = new List<Link>();
        lock (_gate)
        {
            for (var wanted = link.Stream.TakesReserve ? EvictedForDescriptors : 0; wanted > 0 && _silent.First is { } oldest; wanted--)
            {
                Evict(oldest, evicted);
            }

            if (link.Stream.TakesReserve && evicted.Count == 0)
            {
                return false;
            }

            if (_silent.Count + _speaking.Count >= _options.MaxPendingHandshakes)
            {
                Evict(_silent.First ?? _speaking.First!, evicted);
            }

            link.HandshakeSince = _time.GetTimestamp();
            link.Handshake = _silent.AddLast(link);
            SetTimer();
        }

        foreach (var one in evicted)
        {
            one.Abort(DisconnectReason.TooManyHandshakes);
        }

        return true;
    }

    /// <summary>A part of the hello was received: from now on the limit of the handshake applies, not that of the first byte.</summary>
    public void Spoke(Link link)
    {
        lock (_gate)
        {
            if (link.Handshake is { } place && place.List == _silent)
            {
                _silent.Remove(place);
                link.HandshakeSince = _time.GetTimestamp();
                _speaking.AddLast(place);
            }
        }
    }

    /// <summary>Returns the place, if the link has one.</summary>
    public void Leave(Link link)
    {
        lock (_gate)
        {
            Remove(link);
        }
    }

    public void Dispose() => _timer.Dispose();

    private static void Remove(Link link)
    {
        if (link.Handshake is { } place)
        {
            place.List!.Remove(place);
            link.Handshake = null;
        }
    }

    private static void Evict(LinkedListNode<Link> place, List<Link> evicted)
    {
        evicted.Add(place.Value);
        Remove(place.Value);
    }

    private void EndExpired()
    {
        var expired = new List<Link>();
        lock (_gate)
        {
            _isTimerSet = false;
            while (_silent.First is { } silent && Left(silent.Value, _options.FirstByteTimeout) <= TimeSpan.Zero)
            {
                Evict(silent, expired);
            }

            while (_speaking.First is { } speaking && Left(speaking.Value, _options.HandshakeTimeout) <= TimeSpan.Zero)
            {
                Evict(speaking, expired);
            }

            SetTimer();
        }

        foreach (var link in expired)
        {
            link.Abort(DisconnectReason.HandshakeTimeout);
        }
    }

    private TimeSpan Left(Link link, TimeSpan limit) => limit - _time.GetElapsedTime(link.HandshakeSince);

    /// <summary>
    /// Sets the timer for the first of each list. It may fire too early for links that have sent bytes meanwhile, never too late.
    /// </summary>
    private void SetTimer()
    {
        if (_isTimerSet || (_silent.First ?? _speaking.First) is null)
        {
            return;
        }

        var next = TimeSpan.MaxValue;
        if (_silent.First is { } silent)
        {
            next = Left(silent.Value, _options.FirstByteTimeout);
        }

        if (_speaking.First is { } speaking && Left(speaking.Value, _options.HandshakeTimeout) is var left && left < next)
        {
            next = left;
        }

        _isTimerSet = true;
        _timer.Change(next > TimeSpan.Zero ? next : TimeSpan.Zero, Timeout.InfiniteTimeSpan);
    }
}
