using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Nodes;
using ActOp.Runtime.Routing;
using ActOp.Runtime.Stages;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Hosting.Health;

/// <summary>
/// Says whether the node of this host is alive and whether it is ready. A silo posts a step to the control stage and to the work stage once
/// a second, and notes when it ran. Threads that read from the network are woken once a second if they have made no step: one that still
/// makes none is kept by what it reads. Threads that write to the network are looked at as often: they run only items of the runtime.
/// </summary>
/// <remarks>
/// <para>Any thread; a check never waits and never throws. Owns the timer of its steps, which ends with the node.</para>
/// <para>Before the start and after the stop of the node, nothing runs that could stand still: it is alive and not ready. A step that does
/// not run is not followed by others of its stage, so a stage that stands still holds one item.</para>
/// </remarks>
internal sealed partial class NodeHealth(IServiceProvider services, TimeProvider time, IOptions<HealthOptions> options)
    : ILifecycleParticipant<ISiloLifecycle>
{
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly StageBeat _control = new("control");
    private readonly StageBeat _work = new("work");
    private HealthNeeds? _node;
    private long _leaseLostAt;
    private int _periodsInFrame;
    private int _periodsInItem;
    private DateTime? _asked;

    public void Participate(ISiloLifecycle lifecycle) => lifecycle.Subscribe(
        "health", ServiceLifecycleStage.RuntimeServices - 1, _ =>
        {
            Start(HealthNeeds.FromServices(services));
            return Task.CompletedTask;
        });

    /// <summary>Makes a check, and counts it.</summary>
    internal HealthCheckResult Count(Func<NodeHealth, HealthCheckResult> check)
    {
        var result = check(this);
        _node?.Local.Counts.Add(NodeEvent.HealthCheck);
        if (result.Status == HealthStatus.Unhealthy)
            _node?.Local.Counts.Add(NodeEvent.HealthCheckFailed);
        return result;
    }

    /// <summary>Alive: nothing of the silo stands still, it was not declared dead, and it has had its lease not long ago.</summary>
    internal HealthCheckResult CheckLive()
    {
        if (_node is not { } node)
            return HealthCheckResult.Healthy("It is not a silo that runs.");
        if (node.Local.IsDead)
            return HealthCheckResult.Unhealthy("The silo " + node.Local.Address + " was declared dead.");
        if (node.Local.IsStopping)
            return HealthCheckResult.Healthy("The silo stops.");
        foreach (var beat in (ReadOnlySpan<StageBeat>)[_control, _work])
        {
            if (time.GetElapsedTime(beat.LastRun) > options.Value.StageTimeout)
            {
                return HealthCheckResult.Unhealthy(
                    "Nothing has run on the stage " + beat.Name + " for " + time.GetElapsedTime(beat.LastRun) + ".");
            }
        }

        if (Volatile.Read(ref _periodsInFrame) * Period > options.Value.StageTimeout)
        {
            return HealthCheckResult.Unhealthy(
                "A thread that reads from the network has been in one frame for " + (_periodsInFrame * Period) + ".");
        }

        if (Volatile.Read(ref _periodsInItem) * Period > options.Value.StageTimeout)
        {
            return HealthCheckResult.Unhealthy(
                "A thread that writes to the network has been in one item for " + (_periodsInItem * Period) + ".");
        }

        var without = node.Lease.IsClosed && Volatile.Read(ref _leaseLostAt) is > 0 and var lost
            ? time.GetElapsedTime(lost) : TimeSpan.Zero;
        return options.Value.LeaseTimeout != Timeout.InfiniteTimeSpan && without > options.Value.LeaseTimeout
            ? HealthCheckResult.Unhealthy("The silo " + node.Local.Address + " has had no lease for " + without + ".")
            : HealthCheckResult.Healthy();
    }

    /// <summary>
    /// Ready: a silo is active in its view, has its lease and does not stop, and the application's parts agree. A client is connected to a
    /// silo. While the membership table does not answer, a silo is ready and degraded: grains work, but no silo can join.
    /// </summary>
    internal HealthCheckResult CheckReady()
    {
        if (services.GetService<IHostApplicationLifetime>() is { ApplicationStopping.IsCancellationRequested: true })
            return HealthCheckResult.Unhealthy("The host stops.");
        return services.GetService<ClientHost>() is null ? CheckSilo() : CheckClient(HealthNeeds.FromServices(services));
    }

    private static HealthCheckResult CheckClient(HealthNeeds node) => node.Peers.Count(clients: false) > 0
        ? HealthCheckResult.Healthy()
        : HealthCheckResult.Unhealthy("The client is connected to no silo.");

    private HealthCheckResult CheckSilo()
    {
        if (_node is not { } node)
            return HealthCheckResult.Unhealthy("The silo has not started.");
        if (node.Local.IsStopping || !node.Cluster.IsActive(node.Local.Address))
            return HealthCheckResult.Unhealthy("The silo " + node.Local.Address + " is not active: it starts or stops.");
        if (node.Lease.IsClosed)
            return HealthCheckResult.Unhealthy("The silo " + node.Local.Address + " has no lease: its grains wait.");
        if (AskParticipants() is { } reason)
            return HealthCheckResult.Unhealthy(reason);
        return node.Membership() is { TableAnswers: false }
            ? HealthCheckResult.Degraded("The membership table does not answer: no silo joins, leaves or is declared dead.")
            : HealthCheckResult.Healthy();
    }

    private string? AskParticipants()
    {
        DateTime last;
        lock (_gate)
        {
            var now = time.GetUtcNow().UtcDateTime;
            last = _asked ?? now;
            _asked = now;
        }

        foreach (var participant in services.GetServices<IHealthCheckParticipant>())
        {
            try
            {
                if (!participant.CheckHealth(last, out var reason))
                    return participant.GetType().Name + ": " + (reason ?? "no reason given");
            }
            catch (Exception exception)
            {
                return participant.GetType().Name + " has failed: " + exception.Message;
            }
        }

        return null;
    }

    private void Start(HealthNeeds node)
    {
        _control.Ran(time);
        _work.Ran(time);
        _node = node;
        node.Local.Background.Part("health").Every(Period, () => CheckStages(node));
    }

    /// <summary>Once a second.</summary>
    private void CheckStages(HealthNeeds node)
    {
        _control.Post(node.Stages.Control.Post, time);
        _work.Post(node.Stages.Work.Post, time);
        var periods = node.Peers.ProbeReceiving();
        if (periods == (int)(options.Value.StageTimeout / Period) + 1)
            ReadingStandsStill(node.Local.Log.Logger, periods * Period.TotalSeconds);
        Volatile.Write(ref _periodsInFrame, periods);
        periods = Math.Max(node.Stages.SiloSend.LongestItem(), node.Stages.ClientSend.LongestItem());
        if (periods == (int)(options.Value.StageTimeout / Period) + 1)
            WritingStandsStill(node.Local.Log.Logger, periods * Period.TotalSeconds);
        Volatile.Write(ref _periodsInItem, periods);
        if (!node.Lease.IsClosed)
            Volatile.Write(ref _leaseLostAt, 0);
        else if (Volatile.Read(ref _leaseLostAt) == 0)
            Volatile.Write(ref _leaseLostAt, Math.Max(1, time.GetTimestamp()));
    }

    [LoggerMessage(1475, LogLevel.Error, "A thread that reads from the network has been in one frame for {seconds:F0} s.")]
    private static partial void ReadingStandsStill(ILogger logger, double seconds);

    [LoggerMessage(1486, LogLevel.Error, "A thread that writes to the network has been in one item for {seconds:F0} s.")]
    private static partial void WritingStandsStill(ILogger logger, double seconds);

    /// <summary>When a step of a stage last ran. Posted again only after it has run.</summary>
    private sealed class StageBeat(string name)
    {
        private long _lastRun;
        private int _isPosted;

        internal string Name => name;

        internal long LastRun => Volatile.Read(ref _lastRun);

        internal void Post(Action<StageAction> post, TimeProvider time)
        {
            if (Interlocked.Exchange(ref _isPosted, 1) == 0)
                post(new StageAction(() => Ran(time)));
        }

        internal void Ran(TimeProvider time)
        {
            Volatile.Write(ref _lastRun, time.GetTimestamp());
            Volatile.Write(ref _isPosted, 0);
        }
    }
}

/// <summary>A health check by a function.</summary>
internal sealed class NodeHealthCheck(Func<HealthCheckResult> check) : IHealthCheck
{
    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default) =>
        Task.FromResult(check());
}

/// <summary>The parts of a node by which its health is judged. Owns none of them.</summary>
internal sealed record HealthNeeds(
    LocalNode Local, NodeStages Stages, LeaseGate Lease, ClusterView Cluster, PeerTable Peers, Func<ClusterService?> Membership)
{
    internal static HealthNeeds FromServices(IServiceProvider services)
    {
        var node = services.GetRequiredService<Node>();
        return new HealthNeeds(node.Local, node.Stages, node.Lease, node.ClusterView, node.Peers, () => node.Cluster);
    }
}

/// <summary>Tells the application's handler that the silo must end.</summary>
/// <remarks>On the thread pool: what it does wrong is logged, and nobody waits for it.</remarks>
internal static class FatalErrors
{
    internal static void Tell(IServiceProvider services, LocalNode local, string reason)
    {
        if (services.GetService<IFatalErrorHandler>() is not { } handler)
            return;
        PoolStep.Begin(() =>
        {
            try
            {
                var error = new OrleansException(reason);
                if (handler.IsUnexpected(error))
                    handler.OnFatalException(local.Address, reason, error);
            }
            catch (Exception exception)
            {
                local.Log.BackgroundFailed("the fatal error handler " + handler.GetType(), exception);
            }
        });
    }
}
