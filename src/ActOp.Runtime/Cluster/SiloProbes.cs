using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>
/// The probes that one silo sends, part of <see cref="MembershipProtocol"/>. Owns, per probed silo, the probe under way and the count of
/// misses; the suspects; and the signs that the fault is on this side (<see cref="HealthScore"/>). Pure as the protocol: the time comes
/// with each call, the messages go to <see cref="MembershipOutput"/>. Runs on the control stage.
/// </summary>
internal sealed class SiloProbes
{
    private const int HealthTooPoorToTestify = 4;
    private readonly SiloAddress _self;
    private readonly MembershipOptions _options;
    private readonly KnownTable _known;
    private readonly HealthScore _health;
    private readonly MembershipOutput _output;
    private readonly Action<long> _suspectsChanged;
    private readonly Dictionary<SiloAddress, ProbedSilo> _probed = [];
    private readonly Dictionary<SiloAddress, bool> _suspects = [];
    private readonly Dictionary<SiloAddress, long> _heard = [];
    private long _lastTraffic;
    private long _lastBlame = long.MinValue / 2;

    /// <summary>Creates the probes; <paramref name="suspectsChanged"/> gets the current time, to write the vote at once.</summary>
    public SiloProbes(
        SiloAddress self, MembershipOptions options, KnownTable known, HealthScore health, MembershipOutput output,
        Action<long> suspectsChanged)
    {
        _self = self;
        _options = options;
        _known = known;
        _health = health;
        _output = output;
        _suspectsChanged = suspectsChanged;
    }

    /// <summary>The silos this one probes.</summary>
    public IReadOnlyCollection<SiloAddress> Probed => _probed.Keys;

    /// <summary>How many probes in a row a silo has missed.</summary>
    public int MissedBy(SiloAddress silo) => _probed.TryGetValue(silo, out var target) ? target.Misses : 0;

    /// <summary>The silos that this one votes against, and whether every failure was a refused connection.</summary>
    public IReadOnlyDictionary<SiloAddress, bool> Suspects => _suspects;

    /// <summary>A probe or a reply of another silo arrived, so this silo is not isolated.</summary>
    public void NoteTraffic(SiloAddress from, long now)
    {
        _lastTraffic = now;
        if (_known.View.MayHost(from))
            _heard[from] = now;
    }

    /// <summary>Whether this silo has heard of another one lately: within the time in which it would suspect it.</summary>
    public bool HasHeard(SiloAddress silo, long now) =>
        _heard.TryGetValue(silo, out var at)
            && now - at < (long)_options.MissedProbesLimit * Math.Max(_options.ProbePeriod, _options.ProbeTimeout);

    /// <summary>Bytes of another silo have arrived since the last tick, whatever they were.</summary>
    public void OnBytes(SiloAddress from, long now)
    {
        NoteTraffic(from, now);
        if (_probed.TryGetValue(from, out var target))
            target.HeardAt = now;
    }

    /// <summary>
    /// A silo probes this one. If it is in doubt it may have heard of that: it is asked at once, unless it is being asked. That it can talk
    /// does not show that it can hear.
    /// </summary>
    public void OnProbe(SiloAddress from, long now)
    {
        NoteTraffic(from, now);
        if (_probed.TryGetValue(from, out var target) && target is { Misses: > 0, Outstanding: 0 })
            Send(target, now);
    }

    /// <summary>Other silos vote against this one: probes them at once, so that they ask again.</summary>
    public void Refute(IEnumerable<SiloAddress> voters)
    {
        foreach (var voter in voters)
            _output.Add(new MembershipAction.SendProbe(voter, new Probe(_output.NextId(), _self, _known.Table.Version)));
    }

    /// <summary>A silo answered a probe of this one.</summary>
    public void OnReply(ProbeReply answer, long now)
    {
        NoteTraffic(answer.From, now);
        if (_probed.TryGetValue(answer.From, out var target))
        {
            if (target.Outstanding == answer.Id && answer.Version == _known.Table.Version)
            {
                // The age was measured after the probe left, so the confirmation is at least as recent as this.
                _known.Confirm(target.SentAt - answer.Age);
            }

            target.Alive();
            Trust(target.Silo, now);
        }
    }

    /// <summary>The host of a silo refused a connection. Returns whether that counted as a missed probe.</summary>
    public bool OnRefused(SiloAddress silo, long now)
    {
        if (!_probed.TryGetValue(silo, out var target))
            return false;

        if (target.Outstanding != 0)
        {
            Missed(target, refused: true, now);
            return true;
        }

        if (now - target.SentAt >= _options.ProbePeriod / 4)
        {
            // Another message was refused. Only an own probe counts, so send one, but not more often than a refused probe is repeated.
            Send(target, now);
        }

        return false;
    }

    /// <summary>A link to a silo broke: probes the silo now.</summary>
    public void OnLinkLost(SiloAddress silo, long now)
    {
        if (_probed.TryGetValue(silo, out var target))
            Send(target, now);
    }

    /// <summary>Another silo reports the result of its probe on behalf of this one.</summary>
    public void OnIndirectProbeReply(IndirectProbeReply answer, long now)
    {
        if (!_probed.TryGetValue(answer.Target, out var target) || target.Indirect != answer.Id)
            return;

        target.Indirect = 0;
        if (answer.Reached)
        {
            // The other silo reaches it, so the fault is on this side.
            _health.Worsen(1, now);
            target.Alive();
            Trust(target.Silo, now);
        }
        else if (answer.Health < HealthTooPoorToTestify)
        {
            target.Refused &= answer.Refused;
            if (target.Refused || target.Misses >= _options.MissedProbesLimit - 1)
                Suspect(target, now);
        }
    }

    /// <summary>
    /// Gives the probes under way this much more time. When they were sent does not change: the lease counts from there.
    /// </summary>
    public void Extend(long time)
    {
        foreach (var target in _probed.Values)
            target.Grace += time;
    }

    /// <summary>Ends all probes.</summary>
    public void Clear()
    {
        _probed.Clear();
        _suspects.Clear();
        _heard.Clear();
    }

    /// <summary>Chooses the silos to probe by the newest view.</summary>
    public void Choose(long now)
    {
        var chosen = new HashSet<SiloAddress>();
        if (_known.View.StatusOf(_self) == SiloStatus.Active)
        {
            // The ring: live silos by hash of their endpoint, starting after this one.
            var own = SiloOrder.EndpointHash(_self);
            var ring = _known.View.Members.Where(member => member.MayHost && !member.Silo.Equals(_self))
                .Select(member => member.Silo).OrderBy(silo => SiloOrder.EndpointHash(silo) - own);
            chosen.UnionWith(ring.Take(_options.ProbedSilos));
        }

        foreach (var silo in _probed.Keys.Where(silo => !chosen.Contains(silo)).ToArray())
        {
            _probed.Remove(silo);
            _suspects.Remove(silo);
        }

        foreach (var silo in _heard.Keys.Where(silo => !_known.View.MayHost(silo)).ToArray())
            _heard.Remove(silo);

        foreach (var silo in chosen)
        {
            if (_probed.TryAdd(silo, new ProbedSilo(silo) { Due = now }))
                _lastTraffic = now;
        }
    }

    /// <summary>Counts the probes without an answer and sends those that are due.</summary>
    public void Tick(long now)
    {
        var doubtful = 0;
        foreach (var target in _probed.Values)
        {
            var timeout = _health.Stretch(_options.ProbeTimeout);
            if (target.Outstanding != 0 && now - target.SentAt - target.Grace >= Patience(target, timeout, now))
                Missed(target, refused: false, now);

            if (target.Indirect != 0 && now - target.IndirectSentAt - target.Grace >= 2 * timeout)
                IndirectMissed(target, now);

            if (target.Outstanding == 0 && now >= target.Due)
                Send(target, now);

            doubtful += target.Misses > 0 && _known.View.ActiveSilos.Length > 2 ? 1 : 0;
        }

        JudgeThisSilo(doubtful, now);
    }

    // Who has sent anything since the probe left is alive, and its answer may stand behind it. But a silo that only talks, and hears
    // nobody, must not go on for ever.
    private long Patience(ProbedSilo target, long timeout, long now) =>
        target.HeardAt > target.SentAt && now - target.HeardAt < timeout ? (1 + _options.MissedProbesLimit) * timeout : timeout;

    // No traffic at all, or doubt about most probed silos at once, is more likely a fault of this silo than of all others. Between two
    // silos it cannot be decided.
    private void JudgeThisSilo(int doubtful, long now)
    {
        if (_probed.Count < 2)
            return;

        if (now - _lastTraffic > 2 * _options.ProbePeriod || (_probed.Count >= 3 && 2 * doubtful > _probed.Count))
        {
            if (now - _lastBlame >= _options.ProbePeriod)
            {
                _lastBlame = now;
                _health.Worsen(1, now);
            }
        }
    }

    private void Send(ProbedSilo target, long now)
    {
        target.Outstanding = _output.NextId();
        target.SentAt = now;
        target.Grace = 0;
        target.Due = now + _options.ProbePeriod;
        _output.Add(new MembershipAction.SendProbe(target.Silo, new Probe(target.Outstanding, _self, _known.Table.Version)));
    }

    private void Missed(ProbedSilo target, bool refused, long now)
    {
        target.Outstanding = 0;
        target.Refused = refused && (target.Misses == 0 || target.Refused);
        target.Misses++;
        if (target.Refused)
            target.Due = Math.Min(target.Due, now + (_options.ProbePeriod / 4));

        if (!target.Refused && target.Misses < _options.MissedProbesLimit - 1)
            return;

        var asked = target.Indirect != 0 || SendIndirectProbe(target, now);
        var enough = target.Refused ? 2 : _options.MissedProbesLimit;
        if ((!asked && target.Misses >= enough) || target.Misses >= _options.MissedProbesLimit + 2)
            Suspect(target, now);
    }

    private bool SendIndirectProbe(ProbedSilo target, long now)
    {
        var others = _known.View.ActiveSilos;
        for (var i = 0; i < others.Length && _options.IndirectProbes; i++)
        {
            var via = others[(int)((SiloOrder.EndpointHash(_self) + (ulong)(target.IndirectTries + i)) % (ulong)others.Length)];
            if (!via.Equals(_self) && !via.Equals(target.Silo) && !IsDoubtful(via))
            {
                target.IndirectTries += i + 1;
                target.Indirect = _output.NextId();
                target.IndirectSentAt = now;
                _output.Add(new MembershipAction.SendIndirectProbe(via, new IndirectProbe(target.Indirect, _self, target.Silo)));
                return true;
            }
        }

        return false;
    }

    private bool IsDoubtful(SiloAddress silo) => _probed.TryGetValue(silo, out var target) && target.Misses > 0;

    // The relaying silo did not reply either, which proves nothing. Use another one; after enough misses decide alone.
    private void IndirectMissed(ProbedSilo target, long now)
    {
        target.Indirect = 0;
        if (!SendIndirectProbe(target, now) && target.Misses >= _options.MissedProbesLimit)
            Suspect(target, now);
    }

    private void Suspect(ProbedSilo target, long now)
    {
        if (_options.Evicts)
        {
            _suspects[target.Silo] = target.Refused;
            _suspectsChanged(now);
        }
    }

    private void Trust(SiloAddress silo, long now)
    {
        if (_suspects.Remove(silo))
            _suspectsChanged(now);
    }
}

/// <summary>State of one probed silo.</summary>
internal sealed class ProbedSilo(SiloAddress silo)
{
    /// <summary>The silo.</summary>
    public SiloAddress Silo { get; } = silo;

    /// <summary>Time in which this silo stood still since the last probe was sent: an answer could not be noticed.</summary>
    public long Grace { get; set; }

    /// <summary>When bytes of the silo last arrived, whatever they were.</summary>
    public long HeardAt { get; set; } = long.MinValue / 2;

    /// <summary>When the next probe is due.</summary>
    public long Due { get; set; }

    /// <summary>The probe under way, 0 for none.</summary>
    public long Outstanding { get; set; }

    /// <summary>When it was sent.</summary>
    public long SentAt { get; set; }

    /// <summary>Missed in a row.</summary>
    public int Misses { get; set; }

    /// <summary>Whether every failure since the last answer was a refusal.</summary>
    public bool Refused { get; set; }

    /// <summary>The indirect probe under way, 0 for none.</summary>
    public long Indirect { get; set; }

    /// <summary>When it was sent.</summary>
    public long IndirectSentAt { get; set; }

    /// <summary>Indirect probes sent since the last answer; chooses the next silo to ask.</summary>
    public int IndirectTries { get; set; }

    /// <summary>The silo replied: clears all misses.</summary>
    public void Alive()
    {
        Outstanding = 0;
        Misses = 0;
        Refused = false;
        Indirect = 0;
        IndirectTries = 0;
    }
}

/// <summary>
/// The signs of faults on this silo, 0 (healthy) to 8: late ticks, no probe traffic, silos that it does not reach but others do. It
/// lengthens the timeouts of this silo's probes, so that an unhealthy silo does not evict healthy ones.
/// </summary>
internal sealed class HealthScore(MembershipOptions options)
{
    private const int Worst = 8;
    private long _calmSince;

    /// <summary>The score.</summary>
    public int Value { get; private set; }

    /// <summary>A sign of a fault on this silo.</summary>
    public void Worsen(int points, long now)
    {
        Value = Math.Min(Worst, Value + points);
        _calmSince = now;
    }

    /// <summary>Removes one point for each period without a sign.</summary>
    public void Decay(long now)
    {
        if (Value > 0 && now - _calmSince >= options.HealthPeriod)
        {
            Value--;
            _calmSince = now;
        }
    }

    /// <summary>A timeout lengthened by this score, one to five times, within the limits of the options.</summary>
    public int Stretch(int timeout)
    {
        var stretched = options.StretchTimeouts ? timeout + ((long)timeout * Value / 2) : timeout;
        return (int)Math.Max(options.MinProbeTimeout, Math.Min(options.MaxProbeTimeout, stretched));
    }
}

/// <summary>
/// The probes that this silo sends on behalf of others, part of <see cref="MembershipProtocol"/>. Owns the requests under way, at most 256.
/// </summary>
internal sealed class ProbeRelays(SiloAddress self, MembershipOptions options, HealthScore health, MembershipOutput output)
{
    private const int MaxRelays = 256;
    private readonly Dictionary<long, (IndirectProbe Request, long SentAt)> _relays = [];

    /// <summary>Probes on behalf of another silo. Returns false, and leaves the request unanswered, when too many are under way.</summary>
    public bool TryRelay(IndirectProbe request, long tableVersion, long now)
    {
        if (_relays.Count >= MaxRelays)
            return false;

        var id = output.NextId();
        _relays[id] = (request, now);
        output.Add(new MembershipAction.SendProbe(request.Target, new Probe(id, self, tableVersion)));
        return true;
    }

    /// <summary>A reply arrived. Returns whether it belongs to a relayed probe.</summary>
    public bool OnReply(long id) => Report(id, reached: true, refused: false);

    /// <summary>The host of a silo refused a connection.</summary>
    public void OnRefused(SiloAddress target)
    {
        foreach (var (id, relay) in _relays.ToArray())
        {
            if (relay.Request.Target.Equals(target))
                Report(id, reached: false, refused: true);
        }
    }

    /// <summary>Reports the probes without an answer as failed.</summary>
    public void Tick(long now)
    {
        if (_relays.Count == 0)
            return;

        foreach (var (id, relay) in _relays.ToArray())
        {
            if (now - relay.SentAt >= options.ProbeTimeout)
                Report(id, reached: false, refused: false);
        }
    }

    /// <summary>Drops all requests without an answer.</summary>
    public void Clear() => _relays.Clear();

    private bool Report(long id, bool reached, bool refused)
    {
        if (!_relays.Remove(id, out var relay))
            return false;

        var answer = new IndirectProbeReply(relay.Request.Id, self, relay.Request.Target, reached, refused, health.Value);
        output.Add(new MembershipAction.SendIndirectProbeReply(relay.Request.From, answer));
        return true;
    }
}
