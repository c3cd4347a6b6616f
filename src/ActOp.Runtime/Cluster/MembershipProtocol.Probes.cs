using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>The part that watches other silos.</summary>
internal sealed partial class MembershipProtocol
{
    private const int HealthTooPoorToTestify = 4;
    private readonly Dictionary<SiloAddress, ProbedSilo> _probed = [];
    private long _lastTraffic;
    private long _lastBlame = long.MinValue / 2;

    /// <summary>The silos this one probes.</summary>
    public IReadOnlyCollection<SiloAddress> Probed => _probed.Keys;

    /// <summary>Another silo asks whether this one is there.</summary>
    public void OnProbe(Probe probe, long now)
    {
        if (_stopped)
        {
            return;
        }

        _lastTraffic = now;
        Actions.Add(new MembershipAction.SendAnswer(probe.From, new ProbeAnswer(probe.Id, _self, _table.Version, now - _confirmedAt)));
        if (View.IsDead(probe.From))
        {
            Actions.Add(new MembershipAction.SendGossip(probe.From, _table));
        }

        if (probe.Version > _table.Version)
        {
            Refresh(now);
        }
    }

    /// <summary>A probed silo answered, to this silo or to the silo that asked it to probe.</summary>
    public void OnProbeAnswer(ProbeAnswer answer, long now)
    {
        if (_stopped || Relayed(answer.Id, reached: true, refused: false))
        {
            return;
        }

        _lastTraffic = now;
        if (_probed.TryGetValue(answer.From, out var target))
        {
            if (target.Outstanding == answer.Id && answer.Version == _table.Version)
            {
                // The answerer's knowledge was that old when it answered, which was after the probe left.
                _confirmedAt = Math.Max(_confirmedAt, target.SentAt - answer.Age);
            }

            target.Alive();
            Trust(target.Silo, now);
        }

        if (answer.Version > _table.Version)
        {
            Refresh(now);
        }

        UpdateLease(now);
    }

    /// <summary>
    /// The host of <paramref name="silo"/> refused the connection: no process listens there. For any message, not only probes.
    /// </summary>
    public void OnRefused(SiloAddress silo, long now)
    {
        RefuseRelays(silo);
        if (_stopped || !_probed.TryGetValue(silo, out var target))
        {
            return;
        }

        if (target.Outstanding != 0)
        {
            Missed(target, refused: true, now);
            Reconcile(now);
        }
        else if (now - target.SentAt >= _options.ProbePeriod / 4)
        {
            // Some other message was refused. Our own probe shall say it, but not more often than a refused probe is repeated.
            SendProbe(target, now);
        }
    }

    /// <summary>
    /// A link to a silo broke. It is probed at once instead of at its next turn, so that a killed process is noticed within milliseconds.
    /// </summary>
    public void OnLinkLost(SiloAddress silo, long now)
    {
        if (!_stopped && _probed.TryGetValue(silo, out var target))
        {
            SendProbe(target, now);
        }
    }

    /// <summary>Another silo says what its probe on our behalf found.</summary>
    public void OnIndirectAnswer(IndirectAnswer answer, long now)
    {
        if (_stopped || !_probed.TryGetValue(answer.Target, out var target) || target.Indirect != answer.Id)
        {
            return;
        }

        target.Indirect = 0;
        if (answer.Reached)
        {
            // It is our side that does not reach it.
            _health.Worsen(1, now);
            target.Alive();
            Trust(target.Silo, now);
        }
        else if (answer.Health < HealthTooPoorToTestify)
        {
            target.Refused &= answer.Refused;
            if (target.Refused || target.Misses >= _options.MissedProbesLimit - 1)
            {
                Suspect(target, now);
            }
        }
    }

    private void ChooseProbed(long now)
    {
        var chosen = new HashSet<SiloAddress>();
        if (View.StatusOf(_self) == SiloStatus.Active)
        {
            // The ring: live silos by hash of their endpoint, starting after ourselves.
            var own = SiloOrder.EndpointHash(_self);
            var ring = View.Members.Where(member => member.MayHost && !member.Silo.Equals(_self))
                .Select(member => member.Silo).OrderBy(silo => SiloOrder.EndpointHash(silo) - own);
            chosen.UnionWith(ring.Take(_options.ProbedSilos));
        }

        foreach (var silo in _probed.Keys.Where(silo => !chosen.Contains(silo)).ToArray())
        {
            _probed.Remove(silo);
            _suspects.Remove(silo);
        }

        foreach (var silo in chosen)
        {
            if (_probed.TryAdd(silo, new ProbedSilo(silo) { Due = now }))
            {
                _lastTraffic = now;
            }
        }
    }

    private void TickProbes(long now)
    {
        var doubtful = 0;
        foreach (var target in _probed.Values)
        {
            if (target.Outstanding != 0 && now - target.SentAt >= _health.Stretch(_options.ProbeTimeout))
            {
                Missed(target, refused: false, now);
            }

            if (target.Indirect != 0 && now - target.IndirectSentAt >= 2 * _health.Stretch(_options.ProbeTimeout))
            {
                IndirectMissed(target, now);
            }

            if (target.Outstanding == 0 && now >= target.Due)
            {
                SendProbe(target, now);
            }

            doubtful += target.Misses > 0 && View.ActiveSilos.Length > 2 ? 1 : 0;
        }

        JudgeOurselves(doubtful, now);
    }

    // Silence from all sides, or from most silos at once, is more likely our own fault than everyone else's. Between two silos nobody can
    // tell.
    private void JudgeOurselves(int doubtful, long now)
    {
        if (_probed.Count < 2)
        {
            return;
        }

        if (now - _lastTraffic > 2 * _options.ProbePeriod || (_probed.Count >= 3 && 2 * doubtful > _probed.Count))
        {
            if (now - _lastBlame >= _options.ProbePeriod)
            {
                _lastBlame = now;
                _health.Worsen(1, now);
            }
        }
    }

    private void SendProbe(ProbedSilo target, long now)
    {
        target.Outstanding = ++_nextId;
        target.SentAt = now;
        target.Due = now + _options.ProbePeriod;
        Actions.Add(new MembershipAction.SendProbe(target.Silo, new Probe(target.Outstanding, _self, _table.Version)));
    }

    private void Missed(ProbedSilo target, bool refused, long now)
    {
        target.Outstanding = 0;
        target.Refused = refused && (target.Misses == 0 || target.Refused);
        target.Misses++;
        if (target.Refused)
        {
            target.Due = Math.Min(target.Due, now + (_options.ProbePeriod / 4));
        }

        if (!target.Refused && target.Misses < _options.MissedProbesLimit - 1)
        {
            return;
        }

        var asked = target.Indirect != 0 || AskAnother(target, now);
        var enough = target.Refused ? 2 : _options.MissedProbesLimit;
        if ((!asked && target.Misses >= enough) || target.Misses >= _options.MissedProbesLimit + 2)
        {
            Suspect(target, now);
        }
    }

    private bool AskAnother(ProbedSilo target, long now)
    {
        var others = View.ActiveSilos;
        for (var i = 0; i < others.Length && _options.IndirectProbes; i++)
        {
            var via = others[(int)((SiloOrder.EndpointHash(_self) + (ulong)(target.IndirectTries + i)) % (ulong)others.Length)];
            if (!via.Equals(_self) && !via.Equals(target.Silo) && !IsDoubtful(via))
            {
                target.IndirectTries += i + 1;
                target.Indirect = ++_nextId;
                target.IndirectSentAt = now;
                Actions.Add(new MembershipAction.SendIndirectProbe(via, new IndirectProbe(target.Indirect, _self, target.Silo)));
                return true;
            }
        }

        return false;
    }

    private bool IsDoubtful(SiloAddress silo) => _probed.TryGetValue(silo, out var target) && target.Misses > 0;

    // The silo in between did not answer either; it proves nothing. Ask another, and after enough misses decide alone.
    private void IndirectMissed(ProbedSilo target, long now)
    {
        target.Indirect = 0;
        if (!AskAnother(target, now) && target.Misses >= _options.MissedProbesLimit)
        {
            Suspect(target, now);
        }
    }

    private void Suspect(ProbedSilo target, long now)
    {
        if (_options.Evicts)
        {
            _suspects[target.Silo] = target.Refused;
            Reconcile(now);
        }
    }

    private void Trust(SiloAddress silo, long now)
    {
        if (_suspects.Remove(silo))
        {
            Reconcile(now);
        }
    }
}
