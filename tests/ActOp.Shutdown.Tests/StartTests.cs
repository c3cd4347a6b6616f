using System.Net;
using ActOp.Configuration;
using ActOp.Hosting;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Nodes;
using Orleans.Runtime.MembershipService;

namespace ActOp.Shutdown.Tests;

/// <summary>A start that fails leaves nothing open, and stops in reverse order what it had started.</summary>
public class StartTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly string[] _before = Census.Begin();

    [Fact]
    public async Task A_port_in_use_leaves_nothing()
    {
        var ports = Nodes.Ports();
        using (var first = Nodes.Silo(ports))
        {
            await first.StartAsync();
            var before = Census.Steady();
            using var second = Nodes.Silo(ports);
            await Assert.ThrowsAnyAsync<Exception>(() => second.StartAsync().WaitAsync(Patience));
            Census.Is(before);
            await first.StopAsync();
        }

        Census.Is(_before);
    }

    [Fact]
    public async Task A_start_that_is_given_up_while_the_seed_is_out_of_reach_leaves_nothing()
    {
        var seed = new IPEndPoint(IPAddress.Loopback, Nodes.Ports().Silo);
        using var host = Nodes.Silo(Nodes.Ports(), silo => silo.UseDevelopmentClustering(seed));
        using var patience = new CancellationTokenSource(TimeSpan.FromMilliseconds(300));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => host.StartAsync(patience.Token).WaitAsync(Patience));
        Census.Is(_before);
    }

    [Fact]
    public async Task A_silo_that_cannot_join_within_its_time_says_so_and_leaves_nothing()
    {
        var seed = new IPEndPoint(IPAddress.Loopback, Nodes.Ports().Silo);
        using var host = Nodes.Silo(Nodes.Ports(), silo => silo.UseDevelopmentClustering(seed)
            .Configure<ClusterMembershipOptions>(static options => options.MaxJoinAttemptTime = TimeSpan.FromMilliseconds(300)));
        await Assert.ThrowsAsync<OrleansClusterConnectivityCheckFailedException>(() =>
            host.StartAsync(CancellationToken.None).WaitAsync(Patience));
        Census.Is(_before);
    }

    [Fact]
    public async Task A_stop_during_a_start_ends_it_and_leaves_nothing()
    {
        var seed = new IPEndPoint(IPAddress.Loopback, Nodes.Ports().Silo);
        using var host = Nodes.Silo(Nodes.Ports(), silo => silo.UseDevelopmentClustering(seed));
        var service = host.Services.GetRequiredService<SiloHost>();
        var start = service.StartAsync(CancellationToken.None);
        await service.StopAsync(CancellationToken.None).WaitAsync(Patience);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => start.WaitAsync(Patience));
        Census.Is(_before);
    }

    [Fact]
    public async Task A_stop_during_the_start_of_a_client_ends_it_and_leaves_nothing()
    {
        using var host = Nodes.Client(Nodes.Ports());
        var service = host.Services.GetRequiredService<ClientHost>();
        var start = service.StartAsync(CancellationToken.None);
        await service.StopAsync(CancellationToken.None).WaitAsync(Patience);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => start.WaitAsync(Patience));
        Census.Is(_before);
    }

    [Fact]
    public async Task A_client_that_finds_no_silo_leaves_nothing()
    {
        using var host = Nodes.Client(Nodes.Ports());
        using var patience = new CancellationTokenSource(TimeSpan.FromMilliseconds(300));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => host.StartAsync(patience.Token).WaitAsync(Patience));
        Census.Is(_before);
    }

    [Theory]
    [InlineData(ServiceLifecycleStage.RuntimeInitialize)]
    [InlineData(ServiceLifecycleStage.RuntimeServices)]
    [InlineData(ServiceLifecycleStage.ApplicationServices)]
    [InlineData(ServiceLifecycleStage.BecomeActive)]
    [InlineData(ServiceLifecycleStage.Active)]
    public async Task A_participant_that_throws_fails_the_start_and_those_before_it_are_stopped_in_reverse_order(int stage)
    {
        var told = new List<string>();
        using var host = Nodes.Silo(Nodes.Ports(), silo =>
        {
            silo.Services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(new Participant("early", ServiceLifecycleStage.First, told));
            silo.Services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(new Participant("before", stage - 1, told));
            silo.Services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(new Participant("throws", stage, told) { Throws = true });
            silo.Services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(new Participant("after", stage + 1, told));
        });
        var exception = await Assert.ThrowsAsync<FormatException>(() => host.StartAsync().WaitAsync(Patience));
        Assert.Equal("throws", exception.Message);
        Assert.Equal(["early starts", "before starts", "throws starts", "throws stops", "before stops", "early stops"], told);
        Census.Is(_before);
    }

    [Fact]
    public async Task A_participant_that_throws_while_it_stops_keeps_nothing_open()
    {
        var told = new List<string>();
        using var host = Nodes.Silo(Nodes.Ports(), silo =>
            silo.Services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(
                new Participant("throws", ServiceLifecycleStage.Active, told) { ThrowsAtStop = true }));
        await host.StartAsync();
        await Assert.ThrowsAnyAsync<Exception>(() => host.StopAsync().WaitAsync(Patience));
        Census.Is(_before);
    }

    [Fact]
    public async Task A_startup_task_that_fails_leaves_nothing_and_the_silo_says_that_it_goes()
    {
        var ports = Nodes.Ports();
        using var first = Nodes.Silo(ports);
        await first.StartAsync();
        using (var second = Nodes.Silo(Nodes.Ports(), silo =>
        {
            silo.UseDevelopmentClustering(new IPEndPoint(IPAddress.Loopback, ports.Silo));
            silo.AddStartupTask(static (_, _) => throw new FormatException());
        }))
        {
            await Assert.ThrowsAsync<FormatException>(() => second.StartAsync().WaitAsync(Patience));
        }

        var node = first.Services.GetRequiredService<Node>();
        Assert.Equal([node.Address], node.ClusterView.Active);
        await first.StopAsync();
        Census.Is(_before);
    }

    [Fact]
    public async Task A_filter_that_throws_when_it_is_made_leaves_nothing()
    {
        using var host = Nodes.Silo(Nodes.Ports(), static silo => silo.AddIncomingGrainCallFilter<BadFilter>());
        await Assert.ThrowsAsync<OrleansConfigurationException>(() => host.StartAsync().WaitAsync(Patience));
        Census.Is(_before);
    }

    [Fact]
    public async Task Bad_options_leave_nothing()
    {
        using var host = Nodes.Silo(Nodes.Ports(), static silo => silo.Configure<StageOptions>(static options => options.WorkThreads = 0));
        await Assert.ThrowsAsync<OrleansConfigurationException>(() => host.StartAsync().WaitAsync(Patience));
        Census.Is(_before);
    }

    [Fact]
    public async Task A_node_that_cannot_be_put_together_leaves_nothing()
    {
        // The mesh, which is made late, refuses the name.
        using var host = Nodes.Silo(Nodes.Ports(), static silo => silo.Configure<ClusterOptions>(static options => options.ClusterId = ""));
        await Assert.ThrowsAnyAsync<Exception>(() => host.StartAsync().WaitAsync(Patience));
        Census.Is(_before);
    }

    [Fact]
    public async Task A_membership_table_that_throws_leaves_nothing()
    {
        using var host = Nodes.Silo(
            Nodes.Ports(), static silo =>
                silo.Services.AddSingleton<ClusterTableFactory>(static _ => static _ => throw new FormatException()));
        await Assert.ThrowsAsync<FormatException>(() => host.StartAsync().WaitAsync(Patience));
        Census.Is(_before);
    }

    private sealed class Participant(string name, int stage, List<string> told) : ILifecycleParticipant<ISiloLifecycle>, ILifecycleObserver
    {
        internal bool Throws { get; init; }

        internal bool ThrowsAtStop { get; init; }

        public void Participate(ISiloLifecycle lifecycle) => lifecycle.Subscribe(name, stage, this);

        public Task OnStart(CancellationToken cancellationToken = default)
        {
            told.Add(name + " starts");
            return Throws ? throw new FormatException(name) : Task.CompletedTask;
        }

        public Task OnStop(CancellationToken cancellationToken = default)
        {
            told.Add(name + " stops");
            return ThrowsAtStop ? throw new FormatException(name) : Task.CompletedTask;
        }
    }

    private sealed class BadFilter : IIncomingGrainCallFilter
    {
        public BadFilter() => throw new FormatException();

        public Task Invoke(IIncomingGrainCallContext context) => context.Invoke();
    }
}
