using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using ActOp.Configuration;
using ActOp.Partitioning;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Hosting;
using ActOp.Runtime.Placement;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>A silo's part in locality partitioning: folds the counted edges, plays the exchange protocol, moves grains.</summary>
/// <remarks>
/// Table and protocol belong to the turns of this system target, on the control stage. Activations hand their counts over through
/// <see cref="Fold"/> and take sketches with <see cref="RentSketch"/> from any thread. No turn waits for another silo: messages go one way,
/// and what is lost is repeated by the protocol's tick or told again by the next period. The parts: <c>LocalityService.Fold.cs</c> (edges),
/// <c>LocalityService.Rounds.cs</c> (exchanges and moves).
/// </remarks>
internal sealed partial class LocalityService : ILocalityTarget, IDisposable
{
    internal const string Name = "locality";

    private static readonly TimeSpan TickPeriod = TimeSpan.FromMilliseconds(250);

    private readonly LocalNode _local;
    private readonly ClusterView _cluster;
    private readonly ActivationTable _activations;
    private readonly EdgeCounters _edges;
    private readonly LocationCache _locations;
    private readonly PlacementHints _hints;
    private readonly GrainFactory _factory;
    private readonly LocalityOptions _options;
    private readonly PartitioningOptions _partitioning;
    private readonly SiloNumbers _silos;
    private readonly HeavyEdgeTable<GrainId> _table;
    private readonly GrainTraits _traits;
    private readonly ExchangeProtocol<GrainId> _protocol;
    private readonly RoundPeriod _period;
    private readonly LocalityMetrics _metrics;
    private readonly SiloLoads _loads;
    private readonly BackgroundPart _work;
    private readonly List<ITimer> _timers = [];
    private ITimer? _roundTimer;
    private volatile bool _runs;

    internal LocalityService(
        LocalNode local,
        ClusterView cluster,
        ActivationTable activations,
        EdgeCounters edges,
        LocationCache locations,
        PlacementHints hints,
        GrainFactory factory,
        Meter meter,
        LocalityOptions options)
    {
        _local = local;
        _cluster = cluster;
        _activations = activations;
        _edges = edges;
        _locations = locations;
        _hints = hints;
        _factory = factory;
        _work = local.Background.Part("locality");
        _options = options;
        _partitioning = options.ToPartitioning();
        _silos = new SiloNumbers(local.Address, cluster.IsUsable);
        _table = new HeavyEdgeTable<GrainId>(_partitioning.EdgeCapacity, _silos.NumberOf(local.Address));
        _traits = new GrainTraits(activations, options, type => local.Log.Unmovable(type));
        _protocol = new ExchangeProtocol<GrainId>(_table, _traits, _partitioning, OriginOf(local.Address), local.Address.Generation);
        _period = new RoundPeriod(_partitioning);
        _metrics = new LocalityMetrics(meter);
        _loads = new SiloLoads(local.Address, options.MinRoundPeriod);
    }

    /// <summary>The activation on whose turns this target runs; set before the start.</summary>
    internal Activation Host { get; set; } = null!;

    /// <summary>Rounds played, for tests.</summary>
    internal long Rounds { get; private set; }

    /// <summary>The number of silos that have a number here, for tests.</summary>
    internal int NumberedSilos => _silos.Count;

    internal void Start()
    {
        if (!_options.Enabled)
            return;
        _runs = true;
        _edges.CountsEdges = true;
        _lastFold = _lastStep = Now;
        Every(_options.FoldPeriod / EdgeCounters.StepsPerPeriod, FoldStep);
        Every(TickPeriod, () => Handle(_protocol.Tick(Now, OwnLoad())));
        Every(_loads.Period, TellLoads);
        Post(TellLoads);
        _roundTimer = _work.Every(_options.MinRoundPeriod, () => Post(PlayRound));
    }

    public void Dispose()
    {
        _runs = false;
        _edges.End();
        foreach (var timer in _timers)
            timer.Dispose();
        _roundTimer?.Dispose();
    }

    /// <summary>Silos came or went: what is gone is forgotten, and the next round comes soon.</summary>
    internal void OnView() => Post(() =>
    {
        _period.Disturb();
        foreach (var (silo, number) in _silos.Gone())
        {
            _loads.Forget(silo);
            Handle(_protocol.Gone(number, Now, OwnLoad()));
            _silos.Free(number);
        }
    });

    /// <summary>True when locality may move the activation now. On its turn, or as a moment's truth from others.</summary>
    internal bool MayMove(Activation activation) => _traits.MayMove(activation);

    public ValueTask Offer(OfferMessage offer)
    {
        var from = _silos.NumberOf(offer.From);
        // A silo that this one does not know, or not any more: it offers again when both agree on who is there.
        if (!_runs || from == Silo.Unknown)
            return default;
        var candidates = _silos.FromMessage(offer.Candidates);
        Handle(_protocol.Receive(
            new ExchangeOffer<GrainId>(offer.Id.ToId(), from, _table.Self, new SiloLoad(offer.Load, offer.Lower, offer.Upper), candidates, offer.Answered.ToId()),
            Now,
            OwnLoad()), offer.From);
        return default;
    }

    public ValueTask Reply(ReplyMessage reply)
    {
        var plan = reply.Accepted is null ? null : new ExchangePlan<GrainId>(reply.Accepted, _silos.FromMessage(reply.Given!), reply.Gain, reply.LoadChange);
        if (plan is null)
            _metrics.Refused(((ExchangeRefusal)reply.Refusal).ToString());
        else
            Expect(plan.Given.Vertices);
        Handle(_protocol.Receive(new ExchangeReply<GrainId>(reply.Id.ToId(), (ExchangeRefusal)reply.Refusal, plan, reply.Withdrawn.ToId()), Now, OwnLoad()), reply.From);
        return default;
    }

    public ValueTask Report(ReportMessage report)
    {
        _protocol.Receive(new MoveReport<GrainId>(report.Id.ToId(), report.Grain, report.Moved));
        return default;
    }

    public ValueTask Loads(LoadsMessage loads)
    {
        if (_runs)
            _loads.Merge(loads, Now, _cluster.IsUsable);
        return default;
    }

    private void TellLoads()
    {
        _loads.Expire(Now);
        var told = _loads.Draw(_cluster.Active, _local.Random.Next);
        if (told.Count == 0)
            return;
        var report = _loads.Report(_activations.Count);
        foreach (var silo in told)
            _work.Follow(At(silo).Loads(report));
    }

    private TimeSpan Now => TimeSpan.FromMilliseconds(_local.Clock.Update());

    private SiloLoad OwnLoad() => _loads.Around(_activations.Count, _cluster.Active, _partitioning.Tolerance);

    private ILocalityTarget At(SiloAddress silo) => _factory.GetSystemTarget<ILocalityTarget>(Name, silo);

    private static ulong OriginOf(SiloAddress silo) => ((ulong)(uint)silo.GetConsistentHashCode() << 32) | (uint)silo.Endpoint.Port;

    private void Every(TimeSpan period, Action step) => _timers.Add(_work.Every(period, () => Post(step)));

    /// <summary>Runs a step on this target's turn. One that fails is logged, and the next comes with its timer.</summary>
    private void Post(Action step) => Host.Enqueue(new ActionWork(_ => _work.Do(step), null));
}
