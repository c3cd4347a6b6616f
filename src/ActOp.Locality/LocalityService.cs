using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Partitioning;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Placement;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Placement.Repartitioning;
using Orleans.Runtime;
using Orleans.Statistics;
using LoadEvents = Orleans.Runtime.Diagnostics.DeploymentLoadPublisherEvents;

namespace ActOp.Locality;

/// <summary>
/// A silo's part in locality partitioning: drives the exchange protocol in rounds and moves the grains of its plans. <see cref="EdgeFold"/>
/// turns the counted edges into the table that the protocol works on.
/// </summary>
/// <remarks>
/// Table and protocol belong to the turns of this system target, on their own stage: a decision may take many milliseconds. Activations
/// hand their counts over through <see cref="Fold"/> and take sketches with <see cref="RentSketch"/> from any thread. No turn waits for
/// another silo: messages are one-way. A lost message is repeated by the tick of the protocol, or its content is sent again in the next
/// period.
/// </remarks>
internal sealed class LocalityService : ILocality, ILocalityTarget
{
    internal const string Name = "locality";

    private static readonly TimeSpan TickPeriod = TimeSpan.FromMilliseconds(250);

    /// <summary>
    /// Time within which a grain of a plan must be idle; otherwise it is skipped. Far above the usual time of a request, far below a round.
    /// </summary>
    private static readonly TimeSpan RestTime = TimeSpan.FromMilliseconds(300);

    private readonly LocalNode _local;
    private readonly ClusterView _cluster;
    private readonly ActivationTable _activations;
    private readonly PlacementHints _hints;
    private readonly GrainFactory _factory;
    private readonly LocalityOptions _options;
    private readonly KnownGraph _graph;
    private readonly ExchangeProtocol<GrainId> _protocol;
    private readonly RoundPeriod _period;
    private readonly SiloLoads _loads;
    private readonly IEnvironmentStatisticsProvider? _statistics;
    private readonly BackgroundPart _work;
    private readonly List<ITimer> _timers = [];
    private ITimer? _roundTimer;
    private ImbalanceBand? _band;
    private int _movesOfRound;
    private volatile bool _runs;
    private volatile bool _tells;
    private volatile SiloUses _uses = SiloUses.None;

    internal LocalityService(LocalityNeeds needs)
    {
        _local = needs.Local;
        _cluster = needs.ClusterView;
        _activations = needs.Activations;
        _hints = needs.Hints;
        _factory = needs.Factory;
        _options = needs.Options;
        _statistics = CheckedStatistics.FromServices(_local.Services);
        _work = _local.Background.Part("locality");
        _graph = new KnownGraph(needs);
        _protocol = new ExchangeProtocol<GrainId>(
            _graph.Table, _graph.Traits, _graph.Partitioning, OriginOf(_local.Address), _local.Address.Generation);
        _period = new RoundPeriod(_graph.Partitioning);
        _loads = new SiloLoads(_local.Address, _options.MinRoundPeriod);
    }

    public string TargetName => Name;

    public Activation Host { get; set; } = null!;

    /// <summary>Number of rounds, for tests.</summary>
    internal long Rounds { get; private set; }

    /// <summary>The number of silos that have a number here, for tests.</summary>
    internal int NumberedSilos => _graph.Silos.Count;

    public SiloUses Uses => _uses;

    public void Start()
    {
        _tells = true;
        Every(_loads.Period, TellLoads);
        Post(TellLoads);
        if (!_options.Enabled)
            return;
        // Not before: the rule may use services that need the node.
        if (_local.Services.GetService<IImbalanceToleranceRule>() is { } rule)
            _band = new ImbalanceBand(rule, exception => _local.Log.BackgroundFailed("imbalance rule", exception));
        _runs = true;
        _graph.Fold.Start(Now);
        Every(_options.FoldPeriod / EdgeCounters.StepsPerPeriod, () => _graph.Fold.Step(Now, _graph.Partitioning.DecayHalfLife));
        Every(TickPeriod, () => Handle(_protocol.Tick(Now, OwnLoad())));
        _roundTimer = _work.Every(_options.MinRoundPeriod, () => Post(PlayRound));
    }

    public void Dispose()
    {
        _runs = _tells = false;
        _graph.Dispose();
        foreach (var timer in _timers)
            timer.Dispose();
        _roundTimer?.Dispose();
    }

    public void OnView() => Post(() =>
    {
        _period.Disturb();
        foreach (var (silo, number) in _graph.Silos.Gone())
        {
            _loads.Forget(silo);
            if (LoadEvents.Feed.IsWatched)
                LoadEvents.Feed.Write(new LoadEvents.Removed(silo, _local.Address));
            Handle(_protocol.Gone(number, Now, OwnLoad()));
            _graph.Silos.Free(number);
        }
    });

    public bool MayMove(Activation activation) => _graph.Traits.MayMove(activation);

    public ValueTask Offer(OfferMessage offer)
    {
        var from = _graph.Silos.NumberOf(offer.From);
        // The sender is not in the view of this silo. It repeats the offer when both have the same view.
        if (!_runs || from == SiloNumber.Unknown)
            return default;
        var candidates = _graph.Silos.FromMessage(offer.Candidates);
        Handle(_protocol.Receive(
            new ExchangeOffer<GrainId>(
                offer.Id.ToId(), from, _graph.Table.Self, new SiloLoad(offer.Load, offer.Lower, offer.Upper), candidates,
                offer.Answered.ToId()),
            Now,
            OwnLoad()), offer.From);
        return default;
    }

    public ValueTask Reply(ReplyMessage reply)
    {
        var plan = reply.Accepted is null
            ? null
            : new ExchangePlan<GrainId>(reply.Accepted, _graph.Silos.FromMessage(reply.Given!), reply.Gain, reply.LoadChange);
        if (plan is null)
            _graph.Metrics.Refused(((ExchangeRefusal)reply.Refusal).ToString());
        else
            Expect(plan.Given.Vertices);
        Handle(_protocol.Receive(new ExchangeReply<GrainId>(reply.Id.ToId(), (ExchangeRefusal)reply.Refusal, plan, reply.Withdrawn.ToId()),
            Now, OwnLoad()), reply.From);
        return default;
    }

    public ValueTask Report(ReportMessage report)
    {
        _protocol.Receive(new MoveReport<GrainId>(report.Id.ToId(), report.Grain, report.Moved));
        return default;
    }

    public ValueTask Loads(LoadsMessage loads)
    {
        if (!_tells)
            return default;
        _loads.Merge(loads, Now, _cluster.IsUsable);
        if (LoadEvents.Feed.IsWatched && loads.Uses.Length > 0)
            LoadEvents.Feed.Write(new LoadEvents.Received(loads.Silos[0], _local.Address, LoadEvents.StatisticsOf(loads.Uses[0], UtcNow)));
        return default;
    }

    public EdgeSketch<GrainId> RentSketch() => _graph.Fold.RentSketch();

    /// <inheritdoc cref="EdgeFold.Add"/>
    public void Fold(GrainId grain, long epoch, EdgeSketch<GrainId> edges) => _graph.Fold.Add(grain, epoch, edges);

    /// <inheritdoc cref="EdgeFold.IsFoldBehind"/>
    public bool IsFoldBehind => _graph.Fold.IsFoldBehind;

    /// <inheritdoc cref="EdgeFold.Forget"/>
    public void Forget(GrainId grain)
    {
        if (_runs)
            _graph.Fold.Forget(grain);
    }

    public void Began(GrainId grain)
    {
        if (_runs && _options.Migration == MigrationMode.Opportunistic)
            Arrived(grain);
    }

    public void Arrived(GrainId grain) => Post(() =>
    {
        _protocol.Arrived(grain);
        _movesOfRound++;
    });

    public Task<List<ClassEdge>> SummarizeAsync(int most)
    {
        if (!_runs)
            return Task.FromResult<List<ClassEdge>>([]);
        var summary = new TaskCompletionSource<List<ClassEdge>>(TaskCreationOptions.RunContinuationsAsynchronously);
        Post(() =>
        {
            try
            {
                summary.TrySetResult(_graph.Summarize(most));
            }
            catch (Exception exception)
            {
                summary.TrySetException(exception);
            }
        });
        return summary.Task;
    }

    private void TellLoads()
    {
        _loads.Expire(Now);
        var own = OwnUse();
        _uses = _loads.Uses(own);
        ReportLoads(own);
        var told = _loads.Draw(_cluster.Active, _local.Random.Next);
        if (told.Count == 0)
            return;
        var report = _loads.Report(own);
        foreach (var silo in told)
            _work.Follow(At(silo).Loads(report));
    }

    private void ReportLoads(SiloUse own)
    {
        if (!LoadEvents.Feed.IsWatched)
            return;
        LoadEvents.Feed.Write(new LoadEvents.Published(_local.Address, LoadEvents.StatisticsOf(own, UtcNow)));
        LoadEvents.Feed.Write(new LoadEvents.ClusterRefreshed(
            _local.Address, _uses.All.ToDictionary(static pair => pair.Key, pair => LoadEvents.StatisticsOf(pair.Value, UtcNow))));
    }

    /// <summary>One round. It does not wait for the other silos.</summary>
    private void PlayRound()
    {
        try
        {
            Rounds++;
            var load = OwnLoad();
            var empty = _loads.EmptiestBelow(load, _cluster.Active);
            if (_graph.Partitioning.Algorithm == SelectionAlgorithm.OneSided)
            {
                MoveOneSided();
            }
            else
            {
                Handle(empty is null || _graph.Silos.NumberOf(empty) is not (> 0 and var number)
                    ? _protocol.BeginRound(Now, load)
                    : _protocol.BeginRound(Now, load, number));
            }
        }
        finally
        {
            var wait = _period.Next(_movesOfRound, _local.Random.Next(1000) / 1000.0);
            _movesOfRound = 0;
            if (_runs)
                _roundTimer!.Change(wait, Timeout.InfiniteTimeSpan);
        }
    }

    private void Handle(ExchangeStep<GrainId> step, SiloAddress? partner = null)
    {
        if (step.Offer is { } offer)
            Send(offer);
        if (step.Reply is { } reply)
        {
            Expect(reply.Plan?.Accepted);
            Send(reply, partner!);
        }

        if (step.Moves is { } moves)
        {
            _graph.Metrics.Exchanged();
            _movesOfRound += moves.Count;
            if (moves.Count > 0)
                _work.Follow(MoveAsync(moves, _graph.Silos.SiloOf(step.Target)));
        }
    }

    private void Send(ExchangeOffer<GrainId> offer)
    {
        _graph.Metrics.Offered();
        _work.Follow(At(_graph.Silos.SiloOf(offer.To)).Offer(new OfferMessage
        {
            From = _local.Address,
            Id = ExchangeName.NameOf(offer.Id),
            Load = offer.Load.Current,
            Lower = offer.Load.Lower,
            Upper = offer.Load.Upper,
            Candidates = _graph.Silos.ToMessage(offer.Candidates),
            Answered = ExchangeName.NameOf(offer.Answered),
        }));
    }

    private void Send(ExchangeReply<GrainId> reply, SiloAddress to)
    {
        _work.Follow(At(to).Reply(new ReplyMessage
        {
            From = _local.Address,
            Id = ExchangeName.NameOf(reply.Id),
            Refusal = (int)reply.Refusal,
            Accepted = reply.Plan?.Accepted,
            Given = reply.Plan is { } plan ? _graph.Silos.ToMessage(plan.Given) : null,
            Gain = reply.Plan?.Gain ?? 0,
            LoadChange = reply.Plan?.LoadChange ?? 0,
            Withdrawn = ExchangeName.NameOf(reply.Withdrawn),
        }));
    }

    /// <summary>
    /// Moves the grains concurrently, each as soon as it is idle. Grains that are not idle within <see cref="RestTime"/> are skipped.
    /// </summary>
    private async Task MoveAsync(IReadOnlyList<GrainId> grains, SiloAddress target)
    {
        _graph.Table.TotalWeight(out var before);
        var requests = new List<(GrainId Grain, MigrationRequest Request)>(grains.Count);
        foreach (var grain in grains)
        {
            var request = new MigrationRequest(target, _options.Migration == MigrationMode.Live);
            requests.Add((grain, request));
            if (_activations.TryGet(grain, out var activation) && _graph.Traits.IsHostedBy(target, grain))
                activation.TryMigrate(request);
            else
                request.Report(MigrationOutcome.Busy);
        }

        var moved = requests.ConvertAll(pair => Confirm(pair.Grain, pair.Request, target));
        var all = Task.WhenAll(moved);
        try
        {
            await all.WaitAsync(RestTime, _local.TaskTime);
        }
        catch (TimeoutException)
        {
            foreach (var (grain, request) in requests)
            {
                if (!request.Outcome.IsCompleted && _activations.TryGet(grain, out var activation))
                    activation.GiveUpMigration(request);
            }
        }

        var count = (await all).Count(done => done);
        _graph.Table.TotalWeight(out var after);
        _local.Log.Exchanged(target, count, grains.Count - count, before, after);
    }

    private async Task<bool> Confirm(GrainId grain, MigrationRequest request, SiloAddress target)
    {
        var outcome = await request.Outcome;
        var left = outcome == MigrationOutcome.Moved;
        var known = left ? _protocol.Departed(grain, out var report, out _) : _protocol.Skipped(grain, out report, out _);
        if (left)
            _graph.Metrics.Moved();
        else
            _graph.Metrics.Skipped();
        if (known && _cluster.IsUsable(target))
            _work.Follow(At(target).Report(new ReportMessage(ExchangeName.NameOf(report.Id), grain, left)));
        return left;
    }

    /// <summary>
    /// The paper's uncoordinated baseline (section 4.2, Discussion): the best candidates go to the best silo without an offer.
    /// </summary>
    private void MoveOneSided()
    {
        foreach (var partner in _protocol.Selection.RankPartners())
        {
            var candidates = _protocol.Selection.Select(partner.Silo);
            _movesOfRound += candidates.Count;
            _work.Follow(MoveAsync(candidates.Vertices, _graph.Silos.SiloOf(partner.Silo)));
            return;
        }
    }

    /// <summary>Stores hints for the grains that come to this silo, in case their next call is made here.</summary>
    private void Expect(IReadOnlyList<GrainId>? coming)
    {
        if (_options.Migration != MigrationMode.Opportunistic || coming is null)
            return;
        foreach (var grain in coming)
            _hints.SetHint(grain, _local.Address);
    }

    private SiloUse OwnUse()
    {
        var measured = _statistics?.GetEnvironmentStatistics() ?? default;
        return new SiloUse(_activations.Count, measured.FilteredCpuUsagePercentage, measured.FilteredMemoryUsageBytes,
            measured.FilteredAvailableMemoryBytes, measured.MaximumAvailableMemoryBytes);
    }

    private DateTime UtcNow => _local.TaskTime.GetUtcNow().UtcDateTime;

    private TimeSpan Now => TimeSpan.FromMilliseconds(_local.Clock.Update());

    private SiloLoad OwnLoad() => _loads.Around(_activations.Count, _cluster.Active, _graph.Partitioning.Tolerance, _band);

    private ILocalityTarget At(SiloAddress silo) => _factory.GetSystemTarget<ILocalityTarget>(Name, silo);

    private static ulong OriginOf(SiloAddress silo) => ((ulong)(uint)silo.GetConsistentHashCode() << 32) | (uint)silo.Endpoint.Port;

    private void Every(TimeSpan period, Action step) => _timers.Add(_work.Every(period, () => Post(step)));

    /// <summary>Runs a step on this target's turn. A failed step is logged; the timer continues.</summary>
    private void Post(Action step) => Host.Enqueue(new ActionItem(_ => _work.Do(step), null));
}
