using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>The part that probes on behalf of others.</summary>
internal sealed partial class MembershipProtocol
{
    private const int MaxRelays = 256;
    private readonly Dictionary<long, (IndirectProbe Request, long SentAt)> _relays = [];

    /// <summary>
    /// Another silo cannot reach a third one and asks this one to try. Beyond 256 at once such requests are left unanswered.
    /// </summary>
    public void OnIndirectProbe(IndirectProbe request, long now)
    {
        if (_stopped || _relays.Count >= MaxRelays)
        {
            return;
        }

        _lastTraffic = now;
        var id = ++_nextId;
        _relays[id] = (request, now);
        Actions.Add(new MembershipAction.SendProbe(request.Target, new Probe(id, _self, _table.Version)));
    }

    private bool Relayed(long id, bool reached, bool refused)
    {
        if (!_relays.Remove(id, out var relay))
        {
            return false;
        }

        var answer = new IndirectAnswer(relay.Request.Id, _self, relay.Request.Target, reached, refused, _health.Value);
        Actions.Add(new MembershipAction.SendIndirectAnswer(relay.Request.From, answer));
        return true;
    }

    private void RefuseRelays(SiloAddress target)
    {
        foreach (var (id, relay) in _relays.ToArray())
        {
            if (relay.Request.Target.Equals(target))
            {
                Relayed(id, reached: false, refused: true);
            }
        }
    }

    private void TickRelays(long now)
    {
        if (_relays.Count == 0)
        {
            return;
        }

        foreach (var (id, relay) in _relays.ToArray())
        {
            if (now - relay.SentAt >= _options.ProbeTimeout)
            {
                Relayed(id, reached: false, refused: false);
            }
        }
    }
}
