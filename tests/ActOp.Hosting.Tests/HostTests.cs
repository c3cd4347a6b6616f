using System.Net;
using System.Net.Sockets;
using ActOp.Configuration;
using ActOp.Staging.Measuring;
using ActOp.TestClusters;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace ActOp.Hosting.Tests;

public class HostTests
{
    [Fact]
    public async Task A_startup_task_runs_when_the_silo_is_active_and_may_call_grains()
    {
        var echoed = "";
        await using var cluster = Cluster(silo => silo.AddStartupTask(async (services, token) =>
            echoed = await services.GetRequiredService<IGrainFactory>().GetGrain<IEchoGrain>("startup").Echo("ready")));
        await cluster.DeployAsync();
        Assert.Equal("ready", echoed);
    }

    [Fact]
    public async Task A_startup_task_that_fails_fails_the_start()
    {
        await using var cluster = Cluster(silo => silo.AddStartupTask((_, _) => throw new FormatException("no start")));
        await Assert.ThrowsAsync<FormatException>(cluster.DeployAsync);
    }

    [Fact]
    public async Task A_bad_option_fails_the_start_and_is_named()
    {
        await NamesAsync("StageOptions.WorkThreads", silo => silo.Configure<StageOptions>(options => options.WorkThreads = 0));
        await NamesAsync("StageOptions.MaxThreads", silo => silo.Configure<StageOptions>(options => options.MaxThreads = 0));
        await NamesAsync(
            "StageOptions.ThreadPenalty", silo => silo.Configure<StageOptions>(options => options.ThreadPenalty = TimeSpan.Zero));
        await NamesAsync(
            "StageOptions.ModelPeriod", silo =>
                silo.Configure<StageOptions>(options => options.ModelPeriod = TimeSpan.FromMilliseconds(1)));
        await NamesAsync("StageOptions.QueueHigh", silo => silo.Configure<StageOptions>(options => options.QueueHigh = 1));
        await NamesAsync("StageOptions.MailboxLimit", silo => silo.Configure<StageOptions>(options => options.MailboxLimit = 0));
        await NamesAsync(
            "MessagingOptions.ResponseTimeout", silo =>
                silo.Configure<SiloMessagingOptions>(options => options.ResponseTimeout = TimeSpan.Zero));
        await NamesAsync("ClusterSecurityOptions.Secret", silo => silo.UseClusterSecret("too short"));
        await NamesAsync("ClusterSecurityOptions.ClientSecret", silo => silo.UseClusterSecret(new string('x', 32), "too short"));
        await NamesAsync("ConnectionLimitOptions.MaxConnections", silo =>
            silo.Configure<ConnectionLimitOptions>(options => options.MaxConnections = 0));
        await NamesAsync("ConnectionLimitOptions.MaxUnfinishedBytes", silo =>
            silo.Configure<ConnectionLimitOptions>(options => options.MaxUnfinishedBytes = 1000));
        await NamesAsync("EndpointOptions.GatewayPort and EndpointOptions.SiloPort", SamePorts);
        await NamesAsync(
            "LocalityOptions.MaxRoundPeriod", silo => silo.Configure<LocalityOptions>(options => options.MaxRoundPeriod = TimeSpan.Zero));
    }

    private static void SamePorts(ISiloBuilder silo) =>
        silo.Configure<EndpointOptions>(options => (options.SiloPort, options.GatewayPort) = (11_111, 11_111));

    [Fact]
    public Task A_silo_that_is_to_trace_its_stages_without_the_package_fails_and_names_it() => NamesAsync(
        "StageOptions.DemandSource is Trace, but the event trace is missing: reference the package ActOp.Staging.Tracing",
        silo => silo.Configure<StageOptions>(options => options.DemandSource = DemandSourceKind.Trace));

    [Fact]
    public async Task A_silo_without_clustering_fails_and_says_what_to_call()
    {
        using var host = new HostBuilder().UseOrleans(_ => { }).Build();
        var exception = await Assert.ThrowsAsync<OrleansConfigurationException>(() => host.StartAsync());
        Assert.Contains("UseLocalhostClustering", exception.Message, StringComparison.Ordinal);
    }

    [Theory, InlineData(true), InlineData(false)]
    public async Task A_port_in_use_fails_the_start_and_the_endpoint_and_its_option_are_named(bool ofSilos)
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        var port = ((IPEndPoint)taken.LocalEndpoint).Port;
        using var host = new HostBuilder().UseOrleans(silo => silo.UseLocalhostClustering(ofSilos ? port : port - 1, ofSilos ? 0 : port)
            .Configure<EndpointOptions>(options =>
                options.SiloListeningEndpoint = ofSilos ? null : new IPEndPoint(IPAddress.Loopback, 0))).Build();
        var exception = await Assert.ThrowsAsync<OrleansConfigurationException>(() => host.StartAsync());
        Assert.Contains("127.0.0.1:" + port + ": another process uses this port", exception.Message, StringComparison.Ordinal);
        Assert.Contains(ofSilos ? "EndpointOptions.SiloPort" : "EndpointOptions.GatewayPort", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_host_is_a_silo_or_a_client_but_not_both() =>
        Assert.Throws<OrleansConfigurationException>(() => new HostBuilder().UseOrleans(_ => { }).UseOrleansClient(_ => { }).Build());

    [Fact]
    public async Task A_silo_that_stops_alone_has_nothing_to_warn_of()
    {
        var log = new LogCapture();
        // The clock stands still, so that no turn takes long, however slow the machine is.
        await using (var cluster = Cluster(silo => silo.Services.AddSingleton<ILoggerProvider>(log)
            .AddSingleton<TimeProvider>(new FakeClock())))
        {
            await cluster.DeployAsync();
            var factory = cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>();
            for (var key = 0; key < 20; key++)
                await factory.GetGrain<IEchoGrain>("stopping-" + key).Echo("");
        }

        Assert.NotEmpty(log.Lines(LogLevel.Information));
        Assert.Empty(log.Lines(LogLevel.Warning));
    }

    [Fact]
    public void A_long_step_of_the_runtime_is_no_fault_of_a_grain()
    {
        var lines = new LogCapture();
        var log = new Foundation.Log(lines);
        log.LongTurn(Foundation.SystemGrainIds.SystemTarget("cluster", SiloAddress.Zero), null, 300);
        Assert.Empty(lines.Lines(LogLevel.Warning));
        log.LongTurn(GrainId.Create("shop", "1"), null, 300);
        Assert.Contains("A turn of shop/1 took 300 ms", Assert.Single(lines.Lines(LogLevel.Warning)), StringComparison.Ordinal);
        log.LongTurn(GrainId.Create("shop", "1"), "batch", 300);
        Assert.Contains("A turn of shop/1 of the group batch took 300 ms", lines.Lines(LogLevel.Warning)[1], StringComparison.Ordinal);
    }

    [Fact]
    public void A_view_in_which_nobody_joined_or_left_says_so()
    {
        var lines = new LogCapture();
        new Foundation.Log(lines).ViewChanged(7, 2, "", "a silo");
        Assert.EndsWith("joined none, left a silo.", Assert.Single(lines.Lines(LogLevel.Information)), StringComparison.Ordinal);
    }

    [Fact]
    public void A_change_of_thread_counts_is_no_line_of_an_ordinary_log()
    {
        var lines = new LogCapture();
        new Foundation.Log(lines).StagesSized("work", "2", "3", "model");
        Assert.Empty(lines.Lines(LogLevel.Information));
    }

    [Fact]
    public async Task A_silo_says_how_it_sizes_its_stages()
    {
        var log = new LogCapture();
        await using var cluster = Cluster(silo => silo.Services.AddSingleton<ILoggerProvider>(log));
        await cluster.DeployAsync();
        Assert.Contains(
            log.Lines(LogLevel.Information), line =>
                line.Contains("Model controller", StringComparison.Ordinal) && line.Contains("processors", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_full_mailbox_refuses_further_calls()
    {
        await using var cluster = Cluster(silo => silo.Configure<StageOptions>(options => options.MailboxLimit = 10));
        await cluster.DeployAsync();
        using var gate = new Gate();
        var grain = cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>().GetGrain<IBlocking>(1);
        var running = grain.Block(gate.Name);
        await gate.ArrivedAsync();
        var calls = Enumerable.Range(0, 30).Select(_ => grain.Block(null)).ToArray();
        gate.Open();
        await running;
        var refused = 0;
        foreach (var call in calls)
        {
            if (await Record.ExceptionAsync(() => call) is { } exception)
            {
                Assert.IsType<LimitExceededException>(exception);
                refused++;
            }
        }

        Assert.InRange(refused, 1, 20);
        await grain.Block(null);
    }

    [Fact]
    public async Task Requests_that_nobody_waits_for_any_more_take_no_room_in_a_mailbox()
    {
        var clock = new FakeClock();
        await using var cluster = Cluster(silo =>
        {
            silo.Services.AddSingleton<TimeProvider>(clock);
            silo.Configure<StageOptions>(options => options.MailboxLimit = 10);
        });
        await cluster.DeployAsync();
        using var gate = new Gate();
        var grain = cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>().GetGrain<IBlocking>(2);
        var running = grain.Block(gate.Name);
        await gate.ArrivedAsync();
        var dead = new List<Task>();
        for (var call = 0; call < 10; call++)
        {
            dead.Add(grain.Soon());
            // When it has answered, those before it have been looked at and wait.
            await grain.Beside().WaitAsync(Gate.Patience);
        }

        await Assert.ThrowsAsync<LimitExceededException>(grain.Soon).WaitAsync(Gate.Patience);
        await grain.Beside().WaitAsync(Gate.Patience);
        clock.Advance(TimeSpan.FromSeconds(6));
        foreach (var call in dead)
            await Assert.ThrowsAsync<TimeoutException>(() => call.WaitAsync(Gate.Patience));
        var living = grain.Soon();
        gate.Open();
        await running;
        await living.WaitAsync(Gate.Patience);
    }

    private static async Task NamesAsync(string option, Action<ISiloBuilder> configure)
    {
        await using var cluster = Cluster(configure);
        var exception = await Assert.ThrowsAsync<OrleansConfigurationException>(cluster.DeployAsync);
        Assert.Contains(option, exception.Message, StringComparison.Ordinal);
    }

    private static InProcessTestCluster Cluster(Action<ISiloBuilder> configure)
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.Options.InitializeClientOnDeploy = false;
        return builder.ConfigureSilo((_, silo) => configure(silo)).Build();
    }

    public interface IBlocking : IGrainWithIntegerKey
    {
        [ResponseTimeout("00:10:00")]
        Task Block(string? gate);

        [ResponseTimeout("00:00:05")]
        Task Soon();

        [AlwaysInterleave]
        Task Beside();
    }

    public sealed class BlockingGrain : Grain, IBlocking
    {
        public Task Block(string? gate) => Gate.PassAsync(gate);

        public Task Soon() => Task.CompletedTask;

        public Task Beside() => Task.CompletedTask;
    }
}
