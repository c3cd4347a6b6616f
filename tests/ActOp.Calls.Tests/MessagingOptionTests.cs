using ActOp.Foundation;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

/// <summary>What the options of messages do.</summary>
public class MessagingOptionTests
{
    [Fact]
    public async Task Requests_beyond_the_hard_limit_are_refused_and_the_option_is_named()
    {
        await using var cluster = Cluster(options => options.MaxEnqueuedRequestsHardLimit = 3);
        await cluster.DeployAsync();
        var (refused, message) = await RefusedAsync(Factory(cluster).GetGrain<IQueued>(1), 20);
        Assert.InRange(refused, 1, 17);
        Assert.Contains("MaxEnqueuedRequestsHardLimit)", message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Stateless_workers_have_a_hard_limit_of_their_own()
    {
        await using var cluster = Cluster(options => options.MaxEnqueuedRequestsHardLimit_StatelessWorker = 3);
        await cluster.DeployAsync();
        var (refused, message) = await RefusedAsync(Factory(cluster).GetGrain<IQueued>(1, typeof(QueuedWorker).FullName), 20);
        Assert.InRange(refused, 1, 17);
        Assert.Contains("MaxEnqueuedRequestsHardLimit_StatelessWorker", message, StringComparison.Ordinal);
        Assert.Equal(0, (await RefusedAsync(Factory(cluster).GetGrain<IQueued>(1), 20)).Refused);
    }

    [Fact]
    public async Task Under_a_debugger_callers_wait_for_the_timeout_with_debugger()
    {
        await using var cluster = Cluster(
            options => options.ResponseTimeoutWithDebugger = TimeSpan.FromHours(7),
            silo => silo.Services.AddSingleton(new DebuggerSeam(true)));
        await cluster.DeployAsync();
        Assert.Equal(TimeSpan.FromHours(7), NodeOf(cluster).Local.ResponseTimeout);
    }

    [Fact]
    public async Task A_request_that_nobody_waits_for_runs_if_expired_messages_are_not_dropped()
    {
        var clock = new FakeClock();
        await using var cluster = Cluster(
            options => options.DropExpiredMessages = false, silo => silo.Services.AddSingleton<TimeProvider>(clock));
        await cluster.DeployAsync();
        using var gate = new Gate();
        using var ran = new Gate();
        var grain = Factory(cluster).GetGrain<IQueued>(1);
        var running = grain.Hold(gate.Name);
        await gate.ArrivedAsync();
        var late = grain.Touch(ran.Name);
        await TestingUtils.WaitUntilAsync(
            _ =>
            {
                clock.Advance(TimeSpan.FromSeconds(10));
                return Task.FromResult(late.IsCompleted);
            },
            Gate.Patience, TimeSpan.FromMilliseconds(1));
        await Assert.ThrowsAsync<TimeoutException>(() => late);
        gate.Open();
        await ran.ArrivedAsync();
        await Record.ExceptionAsync(() => running);
    }

    [Fact]
    public async Task A_request_context_beyond_the_header_limit_is_refused()
    {
        await using var cluster = Cluster(options => options.MaxMessageHeaderSize = 1024, silos: 2);
        await cluster.DeployAsync();
        var factory = Factory(cluster);
        var grain = factory.GetGrain<IQueued>(1);
        await Place.On(cluster.Silos[1].SiloAddress, () => grain.Touch(null));
        RequestContext.Set("long", new string('x', 2000));
        var exception = await Assert.ThrowsAsync<LimitExceededException>(() => grain.Touch(null));
        Assert.Contains("MaxMessageHeaderSize", exception.Message, StringComparison.Ordinal);
        RequestContext.Clear();
        await grain.Touch(null);
    }

    [Fact]
    public async Task Calls_of_the_runtime_have_their_own_timeout()
    {
        await using var cluster = Cluster(options =>
        {
            options.SystemResponseTimeout = TimeSpan.FromHours(3);
            options.ResponseTimeout = TimeSpan.FromHours(1);
        });
        await cluster.DeployAsync();
        var node = NodeOf(cluster);
        using var blocked = new ManualResetEventSlim();
        node.Stages.Control.Post(new StageAction(blocked.Wait));
        var system = node.Factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, node.Address).GetActivationCount();
        using var gate = new Gate();
        var grain = Factory(cluster).GetGrain<IQueued>(1).Hold(gate.Name);
        var left = new Dictionary<string, double>();
        foreach (var (call, _) in node.Calls.Registry.Read())
            left[call.Method.Name] = TimeSpan.FromMilliseconds(call.Deadline - node.Local.Clock.Now).TotalHours;
        blocked.Set();
        gate.Open();
        await system;
        await grain;
        Assert.InRange(left[nameof(IClusterTarget.GetActivationCount)], 2, 3);
        Assert.InRange(left[nameof(IQueued.Hold)], 0.5, 1);
    }

    private static async Task<(int Refused, string Message)> RefusedAsync(IQueued grain, int count)
    {
        using var gate = new Gate();
        var running = grain.Hold(gate.Name);
        await gate.ArrivedAsync();
        var calls = Enumerable.Range(0, count).Select(_ => grain.Touch(null)).ToArray();
        gate.Open();
        await running;
        var failures = new List<Exception>();
        foreach (var call in calls)
        {
            if (await Record.ExceptionAsync(() => call) is { } exception)
                failures.Add(Assert.IsType<LimitExceededException>(exception));
        }

        return (failures.Count, failures.FirstOrDefault()?.Message ?? "");
    }

    private static IGrainFactory Factory(InProcessTestCluster cluster) =>
        cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>();

    private static Node NodeOf(InProcessTestCluster cluster) => cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();

    private static InProcessTestCluster Cluster(
        Action<SiloMessagingOptions> configure, Action<ISiloBuilder>? more = null, short silos = 1)
    {
        var builder = new InProcessTestClusterBuilder(silos);
        builder.Options.InitializeClientOnDeploy = false;
        return builder.ConfigureSilo((_, silo) =>
        {
            silo.Configure(configure);
            more?.Invoke(silo);
        }).Build();
    }

    [Orleans.Metadata.DefaultGrainType("queued")]
    public interface IQueued : IGrainWithIntegerKey
    {
        Task Hold(string gate);

        Task Touch(string? gate);
    }

    public class QueuedGrain : Grain, IQueued
    {
        public Task Hold(string gate) => Gate.PassAsync(gate);

        public Task Touch(string? gate)
        {
            Gate.Touch(gate);
            return Task.CompletedTask;
        }
    }

    [StatelessWorker(1)]
    public class QueuedWorker : QueuedGrain;
}
