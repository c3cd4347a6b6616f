namespace ActOp.Partitioning;

/// <summary>The vertices that a plan moves and that have not yet left or arrived.</summary>
internal sealed class Promises<TVertex>
    where TVertex : notnull, IEquatable<TVertex>
{
    private readonly Dictionary<TVertex, Promise> _outgoing = [];
    private readonly Dictionary<TVertex, Promise> _incoming = [];
    private readonly List<TVertex> _expired = [];

    public int Count => _outgoing.Count + _incoming.Count;

    /// <summary>Incoming load minus outgoing load.</summary>
    public double Balance { get; private set; }

    public bool IsUnderWay(TVertex vertex) => _outgoing.ContainsKey(vertex) || _incoming.ContainsKey(vertex);

    public void Going(TVertex vertex, Promise promise)
    {
        if (_outgoing.TryAdd(vertex, promise))
            Balance -= promise.Load;
    }

    public void Coming(TVertex vertex, Promise promise)
    {
        if (_incoming.Remove(vertex, out var old))
            Balance -= old.Load;
        _incoming.Add(vertex, promise);
        Balance += promise.Load;
    }

    public bool TakeGoing(TVertex vertex, out Promise promise)
    {
        if (!_outgoing.Remove(vertex, out promise))
            return false;
        Balance += promise.Load;
        return true;
    }

    public bool TakeComing(TVertex vertex, out Promise promise)
    {
        if (!_incoming.Remove(vertex, out promise))
            return false;
        Balance -= promise.Load;
        return true;
    }

    public bool IsComing(TVertex vertex, ExchangeId exchange) =>
        _incoming.TryGetValue(vertex, out var promise) && promise.Exchange == exchange;

    /// <summary>Gives up the vertices that were promised to or by a silo that is gone; the others no longer name it.</summary>
    public void ForgetSilo(int silo)
    {
        ForgetSilo(_outgoing, silo, +1);
        ForgetSilo(_incoming, silo, -1);
        if (Count == 0)
            Balance = 0;
    }

    public void Expire(TimeSpan now)
    {
        Expire(_outgoing, now, +1);
        Expire(_incoming, now, -1);
        if (Count == 0)
            Balance = 0;
    }

    private void ForgetSilo(Dictionary<TVertex, Promise> promises, int silo, int sign)
    {
        _expired.Clear();
        CandidateSet<TVertex>? last = null;
        foreach ((var vertex, var promise) in promises)
        {
            if (promise.Partner == silo)
                _expired.Add(vertex);
            else if (!ReferenceEquals(promise.Source, last))
                (last = promise.Source).ForgetSilo(silo);
        }

        RemoveExpired(promises, sign);
    }

    private void Expire(Dictionary<TVertex, Promise> promises, TimeSpan now, int sign)
    {
        _expired.Clear();
        foreach ((var vertex, var promise) in promises)
        {
            if (promise.Deadline <= now)
                _expired.Add(vertex);
        }

        RemoveExpired(promises, sign);
    }

    private void RemoveExpired(Dictionary<TVertex, Promise> promises, int sign)
    {
        foreach (var vertex in _expired)
        {
            if (Invariant.AreChecked)
                Invariant.Holds(promises.ContainsKey(vertex));
            promises.Remove(vertex, out var promise);
            Balance += sign * promise.Load;
        }
    }

    /// <summary>One vertex under way. The vertices of one exchange share the record of those that have left.</summary>
    internal readonly record struct Promise(
        ExchangeId Exchange, int Partner, double Load, TimeSpan Deadline, CandidateSet<TVertex> Source, int Index,
        Dictionary<TVertex, (int Silo, long Epoch)> Departed);
}

/// <summary>Takes vertices that a plan already moves out of further exchanges.</summary>
internal sealed class PromisedTraits<TVertex>(IVertexTraits<TVertex> inner, Promises<TVertex> promises) : IVertexTraits<TVertex>
    where TVertex : notnull, IEquatable<TVertex>
{
    public bool CanMove(TVertex vertex) => !promises.IsUnderWay(vertex) && inner.CanMove(vertex);

    public bool CanMoveTo(TVertex vertex, int silo) => inner.CanMoveTo(vertex, silo);

    public double SizeOf(TVertex vertex) => inner.SizeOf(vertex);
}

/// <summary>
/// The last answer to each silo, so that a repeated offer gets the same answer again and an old one none. Entries are kept until no
/// copy of an offer can be in transit.
/// </summary>
internal sealed class AnsweredOffers<TVertex>(TimeSpan lifetime)
    where TVertex : notnull, IEquatable<TVertex>
{
    private readonly Dictionary<ulong, (ExchangeReply<TVertex> Reply, TimeSpan At)> _last = [];
    private readonly List<ulong> _expired = [];

    public void Remember(ExchangeReply<TVertex> reply, TimeSpan now) => _last[reply.Id.Origin] = (reply, now);

    public bool TryRepeat(ExchangeId id, out ExchangeReply<TVertex>? reply)
    {
        reply = null;
        if (!_last.TryGetValue(id.Origin, out var last))
            return false;
        var known = last.Reply.Id;
        if (known == id)
            reply = last.Reply;
        else if (id.Epoch < known.Epoch || (id.Epoch == known.Epoch && id.Sequence < known.Sequence))
            reply = new(id, ExchangeRefusal.Stale, null);
        return reply is not null;
    }

    /// <summary>No answer names the silo any more.</summary>
    public void ForgetSilo(int silo)
    {
        foreach (var last in _last.Values)
            last.Reply.Plan?.Given.ForgetSilo(silo);
    }

    public void Expire(TimeSpan now)
    {
        _expired.Clear();
        foreach ((var origin, var last) in _last)
        {
            if (now - last.At > lifetime)
                _expired.Add(origin);
        }

        foreach (var origin in _expired)
            _last.Remove(origin);
    }
}
