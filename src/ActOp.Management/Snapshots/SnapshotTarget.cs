using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Routing;
using ActOp.Runtime.Stages;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Statistics;

namespace ActOp.Management.Snapshots;

/// <summary>The parts of the silo that a snapshot shows.</summary>
internal sealed record SnapshotNeeds(LocalNode Local, ActivationTable Activations, EdgeCounters Edges, RuntimeMetrics Metrics,
    IReadOnlyList<SizedStage> Stages, PeerTable Peers, Router Router, ILocality Locality);

/// <summary>One silo's answers to viewers.</summary>
/// <remarks>
/// On the control stage, but for the end of the measuring, which is on a timer. The first question starts the measuring of calls; after
/// <see cref="Patience"/> without a question it ends, so a silo without a viewer pays nothing. A question that comes twice gets two
/// answers. An answer waits for the locality turn at most for the time of a call; the caller has a limit of its own.
/// </remarks>
internal sealed class SnapshotTarget(SnapshotNeeds node) : ISnapshotTarget
{
    internal const string Name = "snapshots";

    /// <summary>Of the classes of a pair, the heaviest ones travel.</summary>
    private const int MostEdges = 200;

    /// <summary>Classes with the most activations and calls travel; the others count as one.</summary>
    private const int MostClasses = 500;

    private const string Others = "other";

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly Lock _gate = new();
    private readonly IEnvironmentStatisticsProvider? _statistics = CheckedStatistics.FromServices(node.Local.Services);
    private CallTimes? _times;
    private ITimer? _timer;
    private long _askedAt;

    /// <summary>Calls are measured.</summary>
    internal bool IsMeasuring
    {
        get
        {
            lock (_gate)
                return _times is not null;
        }
    }

    public async Task<SiloSnapshot> GetSnapshot()
    {
        var times = Measure();
        var measured = _statistics?.GetEnvironmentStatistics() ?? default;
        var (local, remote) = node.Edges.Totals();
        var snapshot = new SiloSnapshot
        {
            Silo = node.Local.Address,
            At = node.Local.Clock.Update() / 1_000.0,
            UtcNow = (node.Local.Services.GetService<TimeProvider>() ?? TimeProvider.System).GetUtcNow().UtcDateTime,
            Cpu = measured.RawCpuUsagePercentage,
            MemoryBytes = measured.RawMemoryUsageBytes,
            MemoryLimitBytes = measured.MaximumAvailableMemoryBytes,
            Activations = node.Activations.Count,
            Clients = node.Peers.Count(clients: true),
            LocalMessages = local,
            RemoteMessages = remote,
            Moves = node.Metrics.Moved,
            IsOverloaded = node.Router.Overload is { IsOverloaded: true },
            Classes = Classes(times),
        };
        foreach (var stage in node.Stages)
        {
            snapshot.Stages.Add(new StageSnapshot
            {
                Name = stage.Name,
                Threads = stage.Threads(),
                Changes = stage.Changes,
                Executed = stage.Usage().Executed,
                Wait = stage.Waited,
                Cpu = stage.Cpu,
                Ready = stage.Ready,
                Wall = stage.Wall,
            });
        }

        foreach (var edge in await node.Locality.SummarizeAsync(MostEdges))
            snapshot.Edges.Add(new EdgeSnapshot { One = edge.One, Other = edge.Other, Local = edge.Local, Remote = edge.Remote });
        return snapshot;
    }

    private List<ClassSnapshot> Classes(CallTimes times)
    {
        var classes = new Dictionary<string, ClassSnapshot>(StringComparer.Ordinal);
        foreach (var (type, count) in node.Activations.Where(static activation =>
            activation.Class.IsOrdinary && activation.State < ActivationState.Gone).CountBy(static activation => activation.GrainId.Type))
        {
            ClassOf(type.ToString()).Activations = count;
        }

        times.CopyTo(ClassOf);
        return classes.Count <= MostClasses ? [.. classes.Values] : Shorten(classes.Values);

        ClassSnapshot ClassOf(string name) => classes.TryGetValue(name, out var one)
            ? one : classes[name] = new ClassSnapshot { GrainType = name };
    }

    private static List<ClassSnapshot> Shorten(IEnumerable<ClassSnapshot> classes)
    {
        ClassSnapshot[] ordered = [.. classes.OrderByDescending(static one => one.Activations + one.Calls.Sum())];
        var rest = new ClassSnapshot { GrainType = Others, Calls = new long[CallTimes.Bounds.Length + 1] };
        foreach (var one in ordered[(MostClasses - 1)..])
        {
            rest.Activations += one.Activations;
            rest.Failed += one.Failed;
            for (var bound = 0; bound < one.Calls.Length; bound++)
                rest.Calls[bound] += one.Calls[bound];
        }

        return [.. ordered[..(MostClasses - 1)], rest];
    }

    private CallTimes Measure()
    {
        lock (_gate)
        {
            _askedAt = node.Local.Time.GetTimestamp();
            _timer ??= node.Local.Background.Part("snapshots").Every(Patience / 3, EndIfAlone);
            return _times ??= new CallTimes(node.Metrics.Meter);
        }
    }

    private void EndIfAlone()
    {
        lock (_gate)
        {
            if (_times is null || node.Local.Time.GetElapsedTime(_askedAt) < Patience)
                return;
            _times.Dispose();
            _timer?.Dispose();
            (_times, _timer) = (null, null);
        }
    }
}
