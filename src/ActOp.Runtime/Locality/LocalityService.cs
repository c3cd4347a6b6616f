using System.Collections.Concurrent;
using ActOp.Configuration;
using ActOp.Partitioning;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Hosting;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>A silo's part in locality partitioning: folds the counted edges, plays the exchange protocol, moves grains.</summary>
/// <remarks>
/// Table and protocol belong to the turns of this system target, on the control stage. Activations hand their counts over
/// through <see cref="Fold"/> and take sketches with <see cref="RentSketch"/> from any thread. The parts:
/// <c>LocalityService.Fold.cs</c> (edges), <c>LocalityService.Rounds.cs</c> (exchanges and moves).
/// </remarks>
internal sealed partial class LocalityService : ILocalityTarget, IDisposable
{
    internal const string Name = "locality";

    private static readonly TimeSpan TickPeriod = TimeSpan.FromMilliseconds(250);

    private readonly Node _node;
    private readonly LocalityOptions _options;
    private readonly PartitioningOptions _partitioning;
    private readonly SiloNumbers _silos;
    private readonly HeavyEdgeTable<GrainId> _table;
    private readonly ExchangeProtocol<GrainId> _protocol;
    private readonly RoundPeriod _period;
    private readonly LocalityMetrics _metrics;
    private readonly Dictionary<SiloAddress, int> _loads = [];
    private readonly List<ITimer> _timers = [];
    private ITimer? _roundTimer;
    private volatile bool _stopped;

    internal LocalityService(Node node, LocalityOptions options)
    {
        _node = node;
        _options = options;
        _partitioning = options.ToPartitioning();
        _silos = new SiloNumbers(node.Address);
        _table = new HeavyEdgeTable<GrainId>(_partitioning.EdgeCapacity, _silos.NumberOf(node.Address));
        _protocol = new ExchangeProtocol<GrainId>(_table, new GrainTraits(node.Activations), _partitioning, OriginOf(node.Address), node.Address.Generation);
        _period = new RoundPeriod(_partitioning);
        _metrics = new LocalityMetrics(node.Metrics.Meter);
    }

    internal void Start()
    {
        if (!_options.Enabled)
            return;
        _node.Edges.CountsEdges = true;
        _lastFold = _lastStep = Now;
        var step = _options.FoldPeriod / EdgeCounters.StepsPerPeriod;
        _timers.Add(_node.Time.CreateTimer(_ => Post(FoldStep), null, step, step));
        _timers.Add(_node.Time.CreateTimer(_ => Post(() => Handle(_protocol.Tick(Now, OwnLoad()))), null, TickPeriod, TickPeriod));
        _roundTimer = _node.Time.CreateTimer(_ => Post(() => _ = PlayRoundAsync()), null, _options.MinRoundPeriod, Timeout.InfiniteTimeSpan);
    }

    public void Dispose()
    {
        _stopped = true;
        _node.Edges.CountsEdges = false;
        foreach (var timer in _timers)
            timer.Dispose();
        _roundTimer?.Dispose();
    }

    /// <summary>Silos came or went: the next round comes soon.</summary>
    internal void OnView(IEnumerable<SiloAddress> died) => Post(() =>
    {
        _period.Disturb();
        foreach (var silo in died)
        {
            _loads.Remove(silo);
            Handle(_protocol.Gone(_silos.NumberOf(silo), Now, OwnLoad()));
        }
    });

    public ValueTask Offer(OfferMessage offer)
    {
        if (_stopped || !_options.Enabled)
            return default;
        var candidates = _silos.FromMessage(offer.Candidates);
        Handle(_protocol.Receive(
            new ExchangeOffer<GrainId>(offer.Id.ToId(), _silos.NumberOf(offer.From), _table.Self, new SiloLoad(offer.Load, offer.Lower, offer.Upper), candidates, offer.Answered.ToId()),
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

    public ValueTask<int> GetLoad(SiloAddress asker, int load)
    {
        _loads[asker] = load;
        return new(_node.Activations.Count);
    }

    private TimeSpan Now => TimeSpan.FromMilliseconds(_node.Clock.Update());

    private static ulong OriginOf(SiloAddress silo) => ((ulong)(uint)silo.GetConsistentHashCode() << 32) | (uint)silo.Endpoint.Port;

    private void Post(Action step) => _node.LocalityHost.Enqueue(new ActionWork(static state => ((Action)state!)(), step));

    private SiloLoad OwnLoad()
    {
        var own = _node.Activations.Count;
        double sum = own;
        var silos = 1;
        foreach (var silo in _node.Silos.Active)
        {
            if (silo.Equals(_node.Address) || !_loads.TryGetValue(silo, out var load))
                continue;
            sum += load;
            silos++;
        }

        return SiloLoad.Around(own, sum / silos, _partitioning.Tolerance);
    }
}
