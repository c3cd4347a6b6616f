namespace ActOp.Partitioning;

/// <summary>
/// The pairwise coordination of one silo (paper Algorithm 1) as a pure state machine: inputs are rounds, messages, finished migrations and
/// the time; outputs are messages to send and migrations to start. It tolerates lost, repeated, late and crossing messages. Only plans are
/// exclusive: migrations continue during the next exchange, without the vertices that are promised already. Not thread safe.
/// </summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
public sealed class ExchangeProtocol<TVertex>
    where TVertex : notnull, IEquatable<TVertex>
{
    /// <summary>Partners of a round, at least, however large its offers are.</summary>
    private const int LeastPartners = 2;

    private readonly HeavyEdgeTable<TVertex> _table;
    private readonly IVertexTraits<TVertex> _traits;
    private readonly PartitioningOptions _options;
    private readonly ulong _origin;
    private readonly long _epoch;
    private readonly Promises<TVertex> _promises = new();
    private readonly AnsweredOffers<TVertex> _answered;
    private readonly CandidateSelection<TVertex> _selection;
    private readonly ExchangeDecision<TVertex> _decision;
    private readonly Queue<int> _partners = [];
    private readonly HashSet<TVertex> _early = [];
    private readonly Dictionary<int, ExchangeId> _lastAnswered = [];

    private ExchangeOffer<TVertex>? _pending;
    private TimeSpan _pendingUntil;
    private int _attempts;
    private long _sequence;
    private TimeSpan _refuseUntil = TimeSpan.MinValue;
    private bool _deciding;

    /// <summary>The most candidates of the next offer, see <see cref="PartitioningOptions.CandidateGrowth"/>.</summary>
    private int _reach;

    /// <summary>Where the next round with larger offers begins among the ranked partners.</summary>
    private int _firstPartner;

    /// <summary>Of this round: offers without gain, and whether another one met a silo that was busy, or got no answer.</summary>
    private (int Fruitless, bool IsContended) _round;

    /// <summary>Creates the protocol of one silo.</summary>
    /// <param name="table">Its edges.</param>
    /// <param name="traits">What may move.</param>
    /// <param name="options">Valid options.</param>
    /// <param name="origin">A number that identifies this silo on all silos; unique.</param>
    /// <param name="epoch">The incarnation of this silo: greater after a restart.</param>
    public ExchangeProtocol(
        HeavyEdgeTable<TVertex> table, IVertexTraits<TVertex> traits, PartitioningOptions options, ulong origin, long epoch)
    {
        _table = table;
        _options = options.Validate();
        _origin = origin;
        _epoch = epoch;
        _traits = new PromisedTraits<TVertex>(traits, _promises);
        _selection = new(table, _traits, options);
        _decision = new(table, _selection, options);
        _answered = new(options.MigrationTimeout * 10);
        _reach = options.CandidateCount;
    }

    /// <summary>The current phase.</summary>
    public ExchangeState State =>
        _deciding ? ExchangeState.Deciding
        : _pending is not null ? ExchangeState.Offering
        : _promises.Count > 0 ? ExchangeState.Migrating : ExchangeState.Idle;

    /// <summary>Promised vertices that have not yet left or arrived.</summary>
    public int Outstanding => _promises.Count;

    /// <summary>The selection of candidates; for dry runs and dashboards.</summary>
    public CandidateSelection<TVertex> Selection => _selection;

    /// <summary>Starts a round unless an offer is already out: ranks the other silos and offers to the best.</summary>
    /// <param name="now">The time since any fixed moment.</param>
    /// <param name="load">The load of this silo, without regard to promises.</param>
    /// <returns>The offer to send, if any silo is worth one.</returns>
    public ExchangeStep<TVertex> BeginRound(TimeSpan now, SiloLoad load)
    {
        if (_pending is not null)
            return default;
        _partners.Clear();
        _round = default;
        RankPartners();
        return OfferToNext(now, load);
    }

    /// <summary>
    /// Starts a round with one given silo, whatever the edges say: for an empty silo that has joined, or to drain this one.
    /// </summary>
    /// <param name="partner">The silo to ask.</param>
    /// <inheritdoc cref="BeginRound(TimeSpan, SiloLoad)"/>
    /// <param name="now">The time since any fixed moment.</param>
    /// <param name="load">The load of this silo, without regard to promises.</param>
    public ExchangeStep<TVertex> BeginRound(TimeSpan now, SiloLoad load, int partner)
    {
        if (_pending is not null)
            return default;
        _partners.Clear();
        _round = default;
        _partners.Enqueue(partner);
        return OfferToNext(now, load);
    }

    /// <summary>Handles an offer of another silo.</summary>
    /// <param name="offer">The offer, with silos in this silo's numbering.</param>
    /// <param name="now">The time since any fixed moment.</param>
    /// <param name="load">The load of this silo, without regard to promises.</param>
    /// <returns>The reply to send, and the migrations of T0 to start. A repeated offer gets the same reply and starts nothing.</returns>
    public ExchangeStep<TVertex> Receive(ExchangeOffer<TVertex> offer, TimeSpan now, SiloLoad load)
    {
        if (_answered.TryRepeat(offer.Id, out var repeated))
            return new(Reply: repeated);
        var withdrawn = _pending?.Id ?? default;
        var refusal = Refuse(offer, now);
        if (_pending is not null)
            withdrawn = default;
        var plan = refusal == ExchangeRefusal.None ? Decide(offer, load) : null;
        if (plan is null && refusal == ExchangeRefusal.None)
            refusal = ExchangeRefusal.NoGain;
        ExchangeReply<TVertex> reply = new(offer.Id, refusal, plan, withdrawn);
        _answered.Remember(reply, now);
        _lastAnswered[offer.From] = offer.Id;
        if (plan is null)
            return new(Reply: reply);
        Gained(now);
        Promise(offer.Id, offer.From, plan.Given.Vertices, plan.Given, plan.Accepted, offer.Candidates, now);
        return new(Reply: reply, Moves: plan.Given.Vertices, Target: offer.From);
    }

    /// <summary>Handles the reply to an offer. Replies to anything but the offer that is out are ignored.</summary>
    /// <param name="reply">The reply.</param>
    /// <param name="now">The time since any fixed moment.</param>
    /// <param name="load">The load of this silo, without regard to promises.</param>
    /// <returns>The migrations of S0 to start, or the offer to the next best silo.</returns>
    public ExchangeStep<TVertex> Receive(ExchangeReply<TVertex> reply, TimeSpan now, SiloLoad load)
    {
        if (reply.Withdrawn != default && !_answered.TryRepeat(reply.Withdrawn, out _))
            _answered.Remember(new(reply.Withdrawn, ExchangeRefusal.Crossing, null), now);
        if (_pending is not { } offer || reply.Id != offer.Id)
            return default;
        _pending = null;
        if (reply.Plan is not { } plan)
        {
            Count(reply.Refusal);
            if (reply.Refusal == ExchangeRefusal.Crossing)
                _partners.Clear();
            return OfferToNext(now, load);
        }

        Gained(now);
        _partners.Clear();
        Promise(offer.Id, offer.To, plan.Accepted, offer.Candidates, plan.Given.Vertices, plan.Given, now);
        return new(Moves: plan.Accepted, Target: offer.To);
    }

    /// <summary>Handles timeouts: repeats or abandons an offer without a reply and drops promises that were not kept.
    /// Call it at least once in every <see cref="PartitioningOptions.OfferTimeout"/>.</summary>
    /// <param name="now">The time since any fixed moment.</param>
    /// <param name="load">The load of this silo, without regard to promises.</param>
    /// <returns>An offer to send, if any.</returns>
    public ExchangeStep<TVertex> Tick(TimeSpan now, SiloLoad load)
    {
        _promises.Expire(now);
        _answered.Expire(now);
        if (_pending is not { } offer || now < _pendingUntil)
            return default;
        Invariant.Holds(_attempts >= 1 && _attempts <= _options.OfferAttempts);
        if (_attempts < _options.OfferAttempts)
        {
            _attempts++;
            _pendingUntil = now + _options.OfferTimeout;
            return new(Offer: offer);
        }

        _pending = null;
        _round.IsContended = true;
        return OfferToNext(now, load);
    }

    /// <summary>
    /// Forgets a silo that left the cluster, ends an offer to it and gives up what was promised to it or by it. Afterwards neither the
    /// protocol nor its table refers to its number, which may name another silo.
    /// </summary>
    /// <param name="silo">The silo.</param>
    /// <param name="now">The time since any fixed moment.</param>
    /// <param name="load">The load of this silo, without regard to promises.</param>
    /// <returns>The offer to the next best silo, if one was out.</returns>
    public ExchangeStep<TVertex> Gone(int silo, TimeSpan now, SiloLoad load)
    {
        _lastAnswered.Remove(silo);
        _table.ForgetSilo(silo);
        _promises.ForgetSilo(silo);
        _answered.ForgetSilo(silo);
        _pending?.Candidates.ForgetSilo(silo);
        for (var left = _partners.Count; left > 0; left--)
        {
            var partner = _partners.Dequeue();
            if (partner != silo)
                _partners.Enqueue(partner);
        }

        if (_pending?.To != silo)
            return default;
        _pending = null;
        return OfferToNext(now, load);
    }

    /// <summary>The best partners; of those that larger offers may go to, fewer, others in each round.</summary>
    private void RankPartners()
    {
        var ranked = _selection.RankPartners();
        var isGrown = _reach > _options.CandidateCount;
        var most = isGrown ? Math.Max((int)((long)_options.PartnersPerRound * _options.CandidateCount / _reach), LeastPartners)
            : _options.PartnersPerRound;
        var count = Math.Min(most, ranked.Count);
        var first = isGrown ? _firstPartner : 0;
        for (var i = 0; i < count; i++)
            _partners.Enqueue(ranked[(first + i) % ranked.Count].Silo);
        if (isGrown && count > 0)
            _firstPartner = (first + count) % ranked.Count;
    }

    private ExchangeStep<TVertex> OfferToNext(TimeSpan now, SiloLoad load)
    {
        Invariant.Holds(_pending is null);
        while (_partners.TryDequeue(out var partner))
        {
            var candidates = _selection.Select(partner, Projected(load).Current > load.Upper ? int.MaxValue : 0, _reach);
            if (candidates.Count == 0)
                continue;
            Invariant.Holds(partner != _table.Self);
            ExchangeId id = new(_origin, _epoch, ++_sequence);
            _pending = new(id, _table.Self, partner, Projected(load), candidates, _lastAnswered.GetValueOrDefault(partner));
            _pendingUntil = now + _options.OfferTimeout;
            _attempts = 1;
            _early.Clear();
            return new(Offer: _pending);
        }

        if (_round is { Fruitless: > 0, IsContended: false })
            _reach = _reach == _options.MaxCandidates ? _options.CandidateCount : (int)Math.Min(2L * _reach, _options.MaxCandidates);
        return default;
    }

    private void Count(ExchangeRefusal refusal)
    {
        if (refusal == ExchangeRefusal.NoGain)
            _round.Fruitless++;
        else
            _round.IsContended = true;
    }

    private void Gained(TimeSpan now)
    {
        _refuseUntil = now + _options.RejectionWindow;
        _reach = Math.Max(_reach / 2, _options.CandidateCount);
    }

    private ExchangeRefusal Refuse(ExchangeOffer<TVertex> offer, TimeSpan now)
    {
        if (now < _refuseUntil)
            return ExchangeRefusal.Recent;
        if (_pending is null)
            return ExchangeRefusal.None;
        if (_pending.To != offer.From)
            return ExchangeRefusal.Busy;
        if (offer.Id.Origin > _origin || offer.Answered == _pending.Id)
            return ExchangeRefusal.Crossing;
        _pending = null;
        _partners.Clear();
        return ExchangeRefusal.None;
    }

    private ExchangePlan<TVertex>? Decide(ExchangeOffer<TVertex> offer, SiloLoad load)
    {
        Invariant.Holds(!_deciding && _pending is null);
        _deciding = true;
        try
        {
            return _decision.Decide(offer, Projected(load));
        }
        finally
        {
            _deciding = false;
        }
    }

    private SiloLoad Projected(SiloLoad load) => load with { Current = load.Current + _promises.Balance };

    /// <summary>A vertex of this silo has left. The table now places it on the partner's silo.</summary>
    /// <param name="vertex">The vertex.</param>
    /// <param name="report">What to tell the partner.</param>
    /// <param name="partner">The partner.</param>
    /// <returns>False if no plan moves that vertex: there is no partner.</returns>
    public bool Departed(TVertex vertex, out MoveReport<TVertex> report, out int partner)
    {
        if (!TryResolve(vertex, moved: true, out report, out partner, out var promise))
            return false;
        var epoch = promise.Source.Epochs[promise.Index] + 1;
        Invariant.Holds(partner != _table.Self);
        promise.Departed[vertex] = (partner, epoch);
        _table.Locate(vertex, partner, epoch);
        return true;
    }

    /// <summary>A vertex of this silo stays after all: it was busy, pinned meanwhile, or is gone.</summary>
    /// <inheritdoc cref="Departed"/>
    /// <param name="vertex">The vertex.</param>
    /// <param name="report">What to tell the partner.</param>
    /// <param name="partner">The partner.</param>
    public bool Skipped(TVertex vertex, out MoveReport<TVertex> report, out int partner) =>
        TryResolve(vertex, moved: false, out report, out partner, out _);

    /// <summary>A vertex has arrived on this silo. If a plan announced it, the table learns its edges at once.</summary>
    /// <param name="vertex">The vertex.</param>
    /// <returns>Whether a plan announced it.</returns>
    public bool Arrived(TVertex vertex)
    {
        if (!_promises.TakeComing(vertex, out var promise))
        {
            // It may have overtaken the reply that announces it.
            if (_pending is not null)
                _early.Add(vertex);
            return false;
        }

        promise.Source.Adopt(promise.Index, _table, promise.Departed);
        return true;
    }

    /// <summary>
    /// The partner reports how a migration ended. A vertex that moved is still awaited until it arrives; one that stays is not.
    /// </summary>
    /// <param name="report">The report; ignored if it is not about a vertex that is awaited from that exchange.</param>
    public void Receive(MoveReport<TVertex> report)
    {
        if (!report.Moved && _promises.IsComing(report.Vertex, report.Id))
            _promises.TakeComing(report.Vertex, out _);
    }

    private bool TryResolve(
        TVertex vertex, bool moved, out MoveReport<TVertex> report, out int partner, out Promises<TVertex>.Promise promise)
    {
        var known = _promises.TakeGoing(vertex, out promise);
        report = known ? new(promise.Exchange, vertex, moved) : default;
        partner = known ? promise.Partner : SiloNumber.Unknown;
        return known;
    }

    private void Promise(
        ExchangeId exchange,
        int partner,
        TVertex[] going,
        CandidateSet<TVertex> goingSource,
        TVertex[] coming,
        CandidateSet<TVertex> comingSource,
        TimeSpan now)
    {
        Dictionary<TVertex, (int, long)> departed = [];
        var deadline = now + _options.MigrationTimeout;
        var index = IndexOf(goingSource);
        foreach (var vertex in going)
        {
            var at = index[vertex];
            _promises.Going(vertex, new(exchange, partner, LoadOf(goingSource.Sizes[at]), deadline, goingSource, at, departed));
        }

        index = IndexOf(comingSource);
        foreach (var vertex in coming)
        {
            var at = index[vertex];
            if (_early.Contains(vertex))
                comingSource.Adopt(at, _table, departed);
            else
                _promises.Coming(vertex, new(exchange, partner, LoadOf(comingSource.Sizes[at]), deadline, comingSource, at, departed));
        }

        _early.Clear();
    }

    private double LoadOf(double size) => _options.Balance == BalanceMeasure.Count ? 1 : size;

    private static Dictionary<TVertex, int> IndexOf(CandidateSet<TVertex> set)
    {
        Dictionary<TVertex, int> index = new(set.Count);
        for (var i = 0; i < set.Count; i++)
            index[set.Vertices[i]] = i;
        return index;
    }
}

/// <summary>What an <see cref="ExchangeProtocol{TVertex}"/> is doing.</summary>
public enum ExchangeState
{
    /// <summary>Nothing is under way.</summary>
    Idle,

    /// <summary>An offer waits for its reply; other offers are refused.</summary>
    Offering,

    /// <summary>An offer is being decided.</summary>
    Deciding,

    /// <summary>Promised vertices are on their way. New exchanges may start; promised vertices take no part in them.</summary>
    Migrating,
}

/// <summary>What the runtime must do after an input of the <see cref="ExchangeProtocol{TVertex}"/>. Everything may be absent.</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
/// <param name="Offer">Send this to its silo.</param>
/// <param name="Reply">Send this back to the silo that offered.</param>
/// <param name="Moves">Start to migrate these vertices of this silo, each on its own.</param>
/// <param name="Target">Where <paramref name="Moves"/> go.</param>
public readonly record struct ExchangeStep<TVertex>(
    ExchangeOffer<TVertex>? Offer = null, ExchangeReply<TVertex>? Reply = null,
    IReadOnlyList<TVertex>? Moves = null, int Target = SiloNumber.Unknown)
    where TVertex : notnull, IEquatable<TVertex>;

/// <summary>
/// When to start the next round: quickly while exchanges gain something or the graph changes, then twice as long after each
/// round without gain, up to a limit. Pure; the caller waits.
/// </summary>
/// <param name="options">The shortest and the longest period.</param>
public sealed class RoundPeriod(PartitioningOptions options)
{
    private double _seconds = options.MinRoundPeriod.TotalSeconds;

    /// <summary>The time from one round to the next as it is now.</summary>
    public TimeSpan Current => TimeSpan.FromSeconds(_seconds);

    /// <summary>Records the end of a round.</summary>
    /// <param name="moves">The vertices that its plan moves; 0 backs off.</param>
    /// <param name="jitter">A random number in [0, 1) from the caller's seeded source, so that the rounds of the silos do not
    /// coincide.</param>
    /// <returns>How long to wait: 75 to 125 % of the period.</returns>
    public TimeSpan Next(int moves, double jitter)
    {
        _seconds = moves > 0 ? options.MinRoundPeriod.TotalSeconds : Math.Min(_seconds * 2, options.MaxRoundPeriod.TotalSeconds);
        return TimeSpan.FromSeconds(_seconds * (0.75 + (0.5 * jitter)));
    }

    /// <summary>
    /// The graph or the cluster changed (a silo joined or left, the remote share rose): the next rounds follow quickly again.
    /// </summary>
    public void Disturb() => _seconds = options.MinRoundPeriod.TotalSeconds;
}
