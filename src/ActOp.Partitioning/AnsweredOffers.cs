namespace ActOp.Partitioning;

/// <summary>
/// The last answer to each silo, so that a repeated offer gets the same answer again and an old one none. Entries live long enough
/// for every copy of an offer to have died out.
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
        ExchangeId known = last.Reply.Id;
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
        foreach ((ulong origin, var last) in _last)
        {
            if (now - last.At > lifetime)
                _expired.Add(origin);
        }

        foreach (ulong origin in _expired)
            _last.Remove(origin);
    }
}
