using System.Collections.Concurrent;
using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;

namespace ActOp.Lifecycle.Tests;

/// <summary>Requests and queues that take too long are logged, and an activation whose request never ends is given up.</summary>
public class WorkloadTests(WorkloadTests.Watching cluster) : IClassFixture<WorkloadTests.Watching>
{
    [Fact]
    public async Task An_activation_whose_request_never_ends_is_given_up_and_those_that_wait_run_on_the_next_one()
    {
        using var gate = new Gate();
        var grain = cluster.Silo.GetGrain<IWork>(Guid.NewGuid());
        var stuck = grain.Hold(gate.Name);
        await gate.ArrivedAsync();
        var first = grain.Life();
        await PassUntilAsync(() => first.IsCompleted);
        Assert.Contains("ActivationUnresponsive", WorkGrain.Ended[grain.GetPrimaryKey()], StringComparison.Ordinal);
        Assert.Single(cluster.Log.Lines(LogLevel.Error), line => Names(line, grain, "given up"));
        Assert.NotEqual(Guid.Empty, await first);
        gate.Open();
        Assert.NotEqual(await stuck, await first);
        Assert.Equal(await first, await grain.Life());
    }

    [Fact]
    public async Task A_request_that_runs_or_waits_for_long_is_logged_once()
    {
        using var gate = new Gate();
        var grain = cluster.Silo.GetGrain<IWork>(Guid.NewGuid());
        var running = grain.Hold(gate.Name);
        await gate.ArrivedAsync();
        var waiting = grain.Life();
        await PassUntilAsync(() => Lines(grain, "has run for") > 0 && Lines(grain, "has waited for") > 0);
        for (var second = 0; second < 20; second++)
            await PassAsync(TimeSpan.FromSeconds(1));
        Assert.Equal((1, 1), (Lines(grain, "has run for"), Lines(grain, "has waited for")));
        gate.Open();
        Assert.Equal(await running, await waiting);
        await PassUntilAsync(() => Node.Upkeep!.Workload.Count == 0);
    }

    [Fact]
    public async Task Queues_above_the_soft_limits_are_logged()
    {
        using var gate = new Gate();
        var grain = cluster.Silo.GetGrain<IWork>(Guid.NewGuid());
        var worker = cluster.Silo.GetGrain<IWork>(Guid.NewGuid(), typeof(WorkWorker).FullName);
        Task[] holding = [grain.Hold(gate.Name), worker.Hold(gate.Name)];
        await gate.ArrivedAsync();
        await gate.ArrivedAsync();
        var waiting = Enumerable.Range(0, 12).SelectMany(_ => new[] { grain.Life(), worker.Life() }).ToArray();
        await PassUntilAsync(() => Lines(grain, "MaxEnqueuedRequestsSoftLimit is 10") > 0
            && Lines(worker, "MaxPendingWorkItemsSoftLimit is 8") > 0);
        gate.Open();
        await Task.WhenAll([.. holding, .. waiting]);
    }

    [Fact]
    public async Task Stateless_workers_have_a_soft_limit_of_their_own()
    {
        using var gate = new Gate();
        var worker = cluster.Silo.GetGrain<IWork>(Guid.NewGuid(), typeof(WorkWorker).FullName);
        var holding = worker.Hold(gate.Name);
        await gate.ArrivedAsync();
        var waiting = Enumerable.Range(0, 30).Select(_ => worker.Life()).ToArray();
        await PassUntilAsync(() => Lines(worker, "MaxEnqueuedRequestsSoftLimit_StatelessWorker is 20") > 0);
        gate.Open();
        await Task.WhenAll([holding, .. waiting]);
    }

    [Fact]
    public async Task Turns_that_get_no_thread_are_logged()
    {
        using var gate = new Gate();
        using var blocked = new ManualResetEventSlim();
        var grains = Enumerable.Range(0, Watching.Threads).Select(_ => cluster.Silo.GetGrain<IWork>(Guid.NewGuid())).ToArray();
        foreach (var grain in grains)
            await grain.Life();
        WorkGrain.Blocked = blocked;
        // Not from this thread, which would run the turn itself.
        var calls = grains.Select(grain => Task.Run(() => grain.Block())).ToArray();
        await PassUntilAsync(() => cluster.Log.Lines(LogLevel.Warning).Any(static line =>
            line.Contains("wait for a thread of the work stage", StringComparison.Ordinal)));
        blocked.Set();
        await Task.WhenAll(calls);
    }

    [Fact]
    public async Task Tasks_of_an_activation_that_has_ended_are_logged_once_per_interval()
    {
        await PassAsync(TimeSpan.FromMinutes(8));
        using var gate = new Gate();
        var grain = cluster.Silo.GetGrain<IWork>(Guid.NewGuid());
        await grain.Leave(gate.Name, 3);
        await cluster.Cluster.DeactivateAsync(grain).WaitAsync(Gate.Patience);
        gate.Open();
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(Lines(grain, "have ended ran") > 0), Gate.Patience);
        Assert.Equal(1, Lines(grain, "have ended ran"));
    }

    private Node Node => cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();

    private int Lines(IWork grain, string text) => cluster.Log.Lines(LogLevel.Warning).Count(line => Names(line, grain, text));

    private static bool Names(string line, IWork grain, string text) =>
        line.Contains(grain.GetGrainId().ToString(), StringComparison.Ordinal) && line.Contains(text, StringComparison.Ordinal);

    private Task PassUntilAsync(Func<bool> condition) => TestingUtils.WaitUntilAsync(
        async _ =>
        {
            await PassAsync(TimeSpan.FromSeconds(1));
            return condition();
        },
        Gate.Patience, TimeSpan.FromMilliseconds(1));

    /// <summary>Advances the time; afterwards the control stage has done what was due.</summary>
    private Task PassAsync(TimeSpan time)
    {
        cluster.Clock.Advance(time);
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Node.Stages.Control.Post(new StageAction(done.SetResult));
        return done.Task.WaitAsync(Gate.Patience);
    }

    public sealed class Watching() : ClusterFixture(1)
    {
        internal const int Threads = 2;

        internal FakeClock Clock { get; } = new();

        internal LogCapture Log { get; } = new();

        internal IClusterClient Silo => ClientOf(0);

        protected override void Configure(InProcessTestClusterOptions options) => options.InitializeClientOnDeploy = false;

        protected override void ConfigureSilo(ISiloBuilder silo)
        {
            silo.Services.AddSingleton<TimeProvider>(Clock).AddSingleton<ILoggerProvider>(Log);
            silo.Configure<StageOptions>(options => (options.Controller, options.WorkThreads) = (StageController.Fixed, Threads));
            silo.Configure<SchedulingOptions>(options =>
            {
                options.DelayWarningThreshold = TimeSpan.FromSeconds(7);
                options.MaxPendingWorkItemsSoftLimit = 8;
                options.StoppedActivationWarningInterval = TimeSpan.FromMinutes(7);
            });
            silo.Configure<SiloMessagingOptions>(options =>
            {
                options.ResponseTimeout = TimeSpan.FromHours(1);
                options.GrainWorkloadAnalysisPeriod = TimeSpan.FromSeconds(2);
                options.RequestProcessingWarningTime = TimeSpan.FromSeconds(10);
                options.RequestQueueDelayWarningTime = TimeSpan.FromSeconds(15);
                options.MaxRequestProcessingTime = TimeSpan.FromMinutes(2);
                options.MaxEnqueuedRequestsSoftLimit = 10;
                options.MaxEnqueuedRequestsSoftLimit_StatelessWorker = 20;
            });
        }
    }

    [Orleans.Metadata.DefaultGrainType("work")]
    public interface IWork : IGrainWithGuidKey
    {
        Task<Guid> Hold(string gate);

        Task<Guid> Life();

        Task Block();

        Task Leave(string gate, int tasks);
    }

    public class WorkGrain : Grain, IWork
    {
        public static readonly ConcurrentDictionary<Guid, string> Ended = new();
        public static ManualResetEventSlim? Blocked;

        private readonly Guid _life = Guid.NewGuid();

        public async Task<Guid> Hold(string gate)
        {
            await Gate.PassAsync(gate);
            return _life;
        }

        public Task<Guid> Life() => Task.FromResult(_life);

        public Task Block()
        {
            Blocked!.Wait();
            return Task.CompletedTask;
        }

        public Task Leave(string gate, int tasks)
        {
            for (var task = 0; task < tasks; task++)
                _ = Hold(gate);
            return Task.CompletedTask;
        }

        public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
        {
            Ended[this.GetPrimaryKey()] = reason.ReasonCode + ": " + reason.Description;
            return Task.CompletedTask;
        }
    }

    [StatelessWorker(1)]
    public class WorkWorker : WorkGrain;
}
