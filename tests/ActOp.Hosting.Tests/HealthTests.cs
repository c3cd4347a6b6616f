using ActOp.Configuration;
using ActOp.Runtime.Nodes;
using ActOp.Staging;
using ActOp.TestClusters;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;

namespace ActOp.Hosting.Tests;

/// <summary>What the checks of <c>AddHealthChecks().AddActOp()</c> say.</summary>
public class HealthTests
{
    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_silo_that_runs_is_alive_and_ready()
    {
        await using var cluster = Cluster();
        await cluster.DeployAsync();
        Assert.Equal((HealthStatus.Healthy, HealthStatus.Healthy), await AskAsync(cluster.Silos[0].ServiceProvider));
    }

    [Fact]
    public async Task A_silo_that_starts_or_drains_is_alive_and_not_ready()
    {
        var asks = new Asks();
        await using var cluster =
            Cluster(silo => silo.Services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(services => asks.In(services)));
        await cluster.DeployAsync();
        await cluster.StopSiloAsync(cluster.Silos[0]);
        Assert.Equal([(HealthStatus.Healthy, HealthStatus.Unhealthy), (HealthStatus.Healthy, HealthStatus.Unhealthy)], asks.Answers);
    }

    [Fact]
    public async Task A_host_that_is_asked_to_stop_is_not_ready_from_then_on()
    {
        await using var cluster = Cluster();
        await cluster.DeployAsync();
        var services = cluster.Silos[0].ServiceProvider;
        services.GetRequiredService<IHostApplicationLifetime>().StopApplication();
        Assert.Equal((HealthStatus.Healthy, HealthStatus.Unhealthy), await AskAsync(services));
    }

    [Fact]
    public async Task A_part_of_the_application_can_say_that_the_silo_is_not_ready()
    {
        var part = new Part();
        await using var cluster = Cluster(silo => silo.Services.AddSingleton<IHealthCheckParticipant>(part));
        await cluster.DeployAsync();
        var services = cluster.Silos[0].ServiceProvider;
        Assert.Equal((HealthStatus.Healthy, HealthStatus.Healthy), await AskAsync(services));
        part.Reason = "The printer is on fire.";
        var report = await services.GetRequiredService<HealthCheckService>().CheckHealthAsync(Cancellation);
        Assert.Equal(HealthStatus.Unhealthy, report.Entries["actop-ready"].Status);
        Assert.Contains(part.Reason, report.Entries["actop-ready"].Description, StringComparison.Ordinal);
        Assert.Equal(HealthStatus.Healthy, report.Entries["actop-live"].Status);
        Assert.Equal(2, part.Asked.Count);
        Assert.True(part.Asked[0] <= part.Asked[1]);
    }

    [Fact]
    public async Task A_silo_without_lease_is_not_ready_and_after_a_while_not_alive()
    {
        var clock = new FakeClock();
        await using var cluster =
            Cluster(silo => silo.Configure<HealthOptions>(static options => options.LeaseTimeout = TimeSpan.FromSeconds(20))
            .Services.AddSingleton<TimeProvider>(clock));
        await cluster.DeployAsync();
        var services = cluster.Silos[0].ServiceProvider;
        var node = services.GetRequiredService<Node>();
        node.SetLease(held: false, ended: false);
        Assert.Equal((HealthStatus.Healthy, HealthStatus.Unhealthy), await AskAsync(services));
        await PassAsync(clock, services, TimeSpan.FromSeconds(22), "has had no lease for");
        node.SetLease(held: true, ended: false);
        Assert.Equal((HealthStatus.Healthy, HealthStatus.Healthy), await AskAsync(services));
    }

    [Fact]
    public async Task A_silo_whose_control_stage_stands_still_is_not_alive()
    {
        var clock = new FakeClock();
        await using var cluster =
            Cluster(silo => silo.Configure<HealthOptions>(static options => options.StageTimeout = TimeSpan.FromSeconds(10))
            .Services.AddSingleton<TimeProvider>(clock));
        await cluster.DeployAsync();
        var services = cluster.Silos[0].ServiceProvider;
        using var gate = new ManualResetEventSlim();
        services.GetRequiredService<Node>().Stages.Control.Post(new Item(() => gate.Wait(Gate.Patience)));
        await PassAsync(clock, services, TimeSpan.FromSeconds(11), "Nothing has run on the stage control");
        gate.Set();
        await PassAsync(clock, services, TimeSpan.FromSeconds(2), null);
    }

    [Fact]
    public async Task A_silo_one_thread_of_which_stays_in_a_frame_is_not_alive()
    {
        var clock = new FakeClock();
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo((_, silo) =>
        {
            silo.Configure<HealthOptions>(static options => options.StageTimeout = TimeSpan.FromSeconds(5));
            silo.Services.AddSingleton<TimeProvider>(clock).AddHealthChecks().AddActOp();
        });
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        var services = cluster.Silos[0].ServiceProvider;
        using var gate = new ManualResetEventSlim();
        Slow.Entry = gate;
        Slow.IsRead.Reset();
        var call = cluster.Client.GetGrain<ISlowReader>(1).Take(new Slow { Number = 5 });
        // In the silo's time the client's keep-alives stop now, and after 15 s its session ends.
        Assert.True(Slow.IsRead.Wait(Gate.Patience, Cancellation));
        await PassAsync(clock, services, TimeSpan.FromSeconds(7), "reads from the network has been in one frame");
        gate.Set();
        await PassAsync(clock, services, TimeSpan.FromSeconds(2), null);
        Assert.Equal(5, await call.WaitAsync(Gate.Patience, Cancellation));
    }

    [Fact]
    public async Task A_silo_one_thread_of_which_stays_in_an_item_of_the_runtime_is_not_alive()
    {
        var clock = new FakeClock();
        await using var cluster =
            Cluster(silo => silo.Configure<HealthOptions>(static options => options.StageTimeout = TimeSpan.FromSeconds(10))
            .Services.AddSingleton<TimeProvider>(clock));
        await cluster.DeployAsync();
        var services = cluster.Silos[0].ServiceProvider;
        using var gate = new ManualResetEventSlim();
        services.GetRequiredService<Node>().Stages.ClientSend.Post(new Item(() => gate.Wait(Gate.Patience)));
        await PassAsync(clock, services, TimeSpan.FromSeconds(12), "writes to the network has been in one item");
        gate.Set();
        await PassAsync(clock, services, TimeSpan.FromSeconds(2), null);
    }

    [Fact]
    public async Task A_client_that_is_connected_to_no_silo_is_alive_and_not_ready()
    {
        using var host = new HostBuilder()
            .UseOrleansClient(static client => client.UseLocalhostClustering())
            .ConfigureServices(static services => services.AddHealthChecks().AddActOp())
            .Build();
        Assert.Equal((HealthStatus.Healthy, HealthStatus.Unhealthy), await AskAsync(host.Services));
    }

    [Fact]
    public async Task The_handler_of_the_application_hears_why_the_silo_must_end()
    {
        var handler = new Handler();
        await using var cluster = Cluster(silo => silo.Services.AddSingleton<IFatalErrorHandler>(handler));
        await cluster.DeployAsync();
        cluster.Silos[0].ServiceProvider.GetRequiredService<Node>().Die("Somebody said so.");
        Assert.Equal("Somebody said so.", await handler.Heard.Task.WaitAsync(Gate.Patience, Cancellation));
    }

    private static InProcessTestCluster Cluster(Action<ISiloBuilder>? configure = null)
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.Options.InitializeClientOnDeploy = false;
        return builder.ConfigureSilo((_, silo) =>
        {
            silo.Services.AddHealthChecks().AddActOp();
            configure?.Invoke(silo);
        }).Build();
    }

    private static async Task<(HealthStatus Live, HealthStatus Ready)> AskAsync(IServiceProvider services)
    {
        var checks = services.GetRequiredService<HealthCheckService>();
        var live = await checks.CheckHealthAsync(static check => check.Tags.Contains("live"), Cancellation);
        var ready = await checks.CheckHealthAsync(static check => check.Tags.Contains("ready"), Cancellation);
        return (live.Status, ready.Status);
    }

    /// <summary>
    /// Time passes in steps, at least so long, until the silo is alive, or is not for this reason. After each step the stages run what they
    /// have, as far as they can: otherwise they would stand still by the clock only.
    /// </summary>
    private static async Task PassAsync(FakeClock clock, IServiceProvider services, TimeSpan time, string? reason)
    {
        var checks = services.GetRequiredService<HealthCheckService>();
        var stages = services.GetRequiredService<Node>().Stages;
        using var limit = new CancellationTokenSource(Gate.Patience);
        for (var passed = TimeSpan.Zero; passed < time || !IsAsExpected(await LiveAsync()); passed += TimeSpan.FromSeconds(1))
        {
            clock.Advance(TimeSpan.FromSeconds(1));
            await RunAsync(stages.Work, limit.Token);
            if (reason?.Contains(" control", StringComparison.Ordinal) != true)
                await RunAsync(stages.Control, limit.Token);
        }

        async Task<HealthReportEntry> LiveAsync() =>
            (await checks.CheckHealthAsync(static check => check.Tags.Contains("live"), Cancellation)).Entries["actop-live"];

        bool IsAsExpected(HealthReportEntry live) => reason is null ? live.Status == HealthStatus.Healthy
            : live.Status == HealthStatus.Unhealthy && live.Description!.Contains(reason, StringComparison.Ordinal);
    }

    private static Task RunAsync(Stage stage, CancellationToken limit)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        stage.Post(new Item(done.SetResult));
        return done.Task.WaitAsync(limit);
    }

    private sealed class Item(Action action) : IStageItem
    {
        public void Execute() => action();
    }

    /// <summary>Asks when everything but the last stage has started, and when the first step of the stop is over.</summary>
    private sealed class Asks
    {
        public List<(HealthStatus, HealthStatus)> Answers { get; } = [];

        public ILifecycleParticipant<ISiloLifecycle> In(IServiceProvider services) => new Participant(this, services);

        private sealed class Participant(Asks asks, IServiceProvider services) : ILifecycleParticipant<ISiloLifecycle>
        {
            public void Participate(ISiloLifecycle lifecycle) =>
                lifecycle.Subscribe("asks", ServiceLifecycleStage.BecomeActive - 1, _ => AskAsync(), _ => AskAsync());

            private async Task AskAsync() => asks.Answers.Add(await HealthTests.AskAsync(services));
        }
    }

    private sealed class Part : IHealthCheckParticipant
    {
        public string? Reason { get; set; }

        public List<DateTime> Asked { get; } = [];

        public bool CheckHealth(DateTime lastCheckTime, out string? reason)
        {
            Asked.Add(lastCheckTime);
            reason = Reason;
            return reason is null;
        }
    }

    private sealed class Handler : IFatalErrorHandler
    {
        public TaskCompletionSource<string?> Heard { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public bool IsUnexpected(Exception exception) => true;

        public void OnFatalException(object? sender = null, string? context = null, Exception? exception = null) =>
            Heard.TrySetResult(context);
    }
}

public interface ISlowReader : IGrainWithIntegerKey
{
    Task<int> Take(Slow slow);
}

public sealed class SlowReader : Grain, ISlowReader
{
    public Task<int> Take(Slow slow) => Task.FromResult(slow.Number);
}

/// <summary>Whoever reads it from the network waits at the gate.</summary>
[GenerateSerializer]
public sealed class Slow
{
    internal static ManualResetEventSlim? Entry { get; set; }

    /// <summary>Set when somebody has come to the gate.</summary>
    internal static ManualResetEventSlim IsRead { get; } = new();

    [Id(0)]
    public int Number
    {
        get;
        set
        {
            if (Entry is not null && Thread.CurrentThread.Name?.StartsWith("actop-receive", StringComparison.Ordinal) == true)
            {
                IsRead.Set();
                Entry.Wait(Gate.Patience);
            }

            field = value;
        }
    }
}
