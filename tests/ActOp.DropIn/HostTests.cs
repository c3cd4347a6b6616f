using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Storage;
using Orleans.TestingHost;

namespace DropIn;

/// <summary>Notes the stages of a silo under the name of its cluster.</summary>
public sealed class SiloNotes(IOptions<ClusterOptions> options) : ILifecycleParticipant<ISiloLifecycle>
{
    public void Participate(ISiloLifecycle lifecycle)
    {
        var journal = Journal.Of(options.Value.ClusterId);
        Note(ServiceLifecycleStage.Active, "active");
        Note(ServiceLifecycleStage.RuntimeInitialize, "runtime");
        Note(ServiceLifecycleStage.ApplicationServices, "application");

        void Note(int stage, string name) => lifecycle.Subscribe(
            nameof(SiloNotes), stage, _ => AddAsync(journal, "start " + name), _ => AddAsync(journal, "stop " + name));
    }

    private static Task AddAsync(Journal journal, string line)
    {
        journal.Add(line);
        return Task.CompletedTask;
    }
}

/// <summary>A startup task that calls a grain.</summary>
public sealed class GreetAtStart(IGrainFactory grains, IOptions<ClusterOptions> options) : IStartupTask
{
    public async Task Execute(CancellationToken cancellationToken) =>
        Journal.Of(options.Value.ClusterId).Add((await grains.GetGrain<ICalls>("startup").Text("task"))!);
}

public sealed class SiloSettings : ISiloConfigurator
{
    public void Configure(ISiloBuilder siloBuilder) => siloBuilder.AddMemoryGrainStorageAsDefault().AddMemoryGrainStorage("second");
}

public sealed class ClientSettings : IClientBuilderConfigurator
{
    public void Configure(IConfiguration configuration, IClientBuilder clientBuilder) =>
        clientBuilder.Configure<ClientMessagingOptions>(static options => options.ResponseTimeout = TimeSpan.FromSeconds(17));
}

/// <summary>Hosts of silos and clients, and clusters for tests.</summary>
public sealed class HostTests : IDisposable
{
    private readonly TestClusterPortAllocator _ports = new();

    public void Dispose() => _ports.Dispose();

    [Fact]
    public async Task A_silo_on_this_machine_serves_its_own_host_and_a_client()
    {
        var (siloPort, gatewayPort) = _ports.AllocateConsecutivePortPairs(1);
        var (journal, name) = Journal.Create();
        var builder = NewHost();
        builder.UseOrleans(silo =>
        {
            silo.UseLocalhostClustering(siloPort, gatewayPort, serviceId: "service", clusterId: name);
            silo.AddMemoryGrainStorageAsDefault();
            silo.AddStartupTask<GreetAtStart>();
            silo.AddStartupTask(async (services, _) =>
                journal.Add((await services.GetRequiredService<IGrainFactory>().GetGrain<ICalls>("startup").Text("delegate"))!));
            silo.Services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>, SiloNotes>();
        });
        using (var host = builder.Build())
        {
            await host.StartAsync();
            Assert.Equal(["start runtime", "start application", "start active", "task", "delegate"],
                journal.Lines.OrderBy(static line => line is "task" ? 1 : line is "delegate" ? 2 : 0));
            Assert.Equal("x", await host.Services.GetRequiredService<IGrainFactory>().GetGrain<ICalls>("x").Text("x"));
            Assert.Equal("x", await host.Services.GetRequiredService<IClusterClient>().GetGrain<ICalls>("x").Text("x"));
            await CallFromClientAsync(gatewayPort, name);
            await host.StopAsync();
        }

        Assert.Equal(["stop active", "stop application", "stop runtime"],
            journal.Lines.Where(static line => line.StartsWith("stop", StringComparison.Ordinal)));
    }

    [Fact]
    public void A_host_is_a_silo_or_a_client()
    {
        var builder = NewHost();
        builder.UseOrleans(static silo => silo.UseLocalhostClustering());
        Assert.Throws<OrleansConfigurationException>(() => builder.UseOrleansClient(static client => client.UseLocalhostClustering()));
    }

    [Fact]
    public async Task A_client_without_a_silo_does_not_start()
    {
        var builder = NewHost();
        var (port, _) = _ports.AllocateConsecutivePortPairs(1);
        var asked = 0;
        builder.UseOrleansClient(client =>
        {
            client.UseLocalhostClustering(port);
            client.UseConnectionRetryFilter((_, _) => Task.FromResult(++asked < 1));
        });
        using var host = builder.Build();
        await Assert.ThrowsAnyAsync<Exception>(() => host.StartAsync());
        Assert.Equal(1, asked);
    }

    [Fact]
    public void Options_and_providers_come_from_the_configuration()
    {
        var builder = NewHost();
        var (siloPort, gatewayPort) = _ports.AllocateConsecutivePortPairs(1);
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>
        {
            ["Orleans:ClusterId"] = "configured",
            ["Orleans:ServiceId"] = "service",
            ["Orleans:Clustering:ProviderType"] = "Development",
            ["Orleans:Endpoints:SiloPort"] = siloPort.ToString(),
            ["Orleans:Endpoints:GatewayPort"] = gatewayPort.ToString(),
            ["Orleans:Endpoints:AdvertisedIPAddress"] = "127.0.0.1",
            ["Orleans:GrainStorage:Default:ProviderType"] = "Memory",
            ["Orleans:GrainStorage:second:ProviderType"] = "Memory",
            ["Orleans:Reminders:ProviderType"] = "Memory",
            ["Messages:ResponseTimeout"] = "00:00:13",
        });
        builder.UseOrleans(silo => silo.Configure<SiloMessagingOptions>(builder.Configuration.GetSection("Messages")));
        using var host = builder.Build();
        var options = host.Services.GetRequiredService<IOptions<ClusterOptions>>().Value;
        Assert.Equal(("configured", "service"), (options.ClusterId, options.ServiceId));
        Assert.Equal(TimeSpan.FromSeconds(13), host.Services.GetRequiredService<IOptions<SiloMessagingOptions>>().Value.ResponseTimeout);
        Assert.NotNull(host.Services.GetKeyedService<IGrainStorage>("second"));
        Assert.NotNull(host.Services.GetService<IReminderTable>());
        Assert.Null(host.Services.GetKeyedService<IGrainStorage>("third"));
    }

    [Fact]
    public async Task Wrong_options_fail_the_start()
    {
        var builder = NewHost();
        builder.UseOrleans(static silo => silo.UseLocalhostClustering().Configure<GrainCollectionOptions>(
            static options => options.CollectionAge = options.CollectionQuantum));
        using var host = builder.Build();
        var exception = await Assert.ThrowsAsync<OrleansConfigurationException>(() => host.StartAsync());
        Assert.Contains("CollectionAge", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Options_have_the_defaults_that_applications_rely_on()
    {
        Assert.Equal(("default", "default"), (new ClusterOptions().ClusterId, new ClusterOptions().ServiceId));
        Assert.Equal(TimeSpan.FromSeconds(30), new SiloMessagingOptions().ResponseTimeout);
        Assert.Equal((TimeSpan.FromMinutes(15), TimeSpan.FromMinutes(1)),
            (new GrainCollectionOptions().CollectionAge, new GrainCollectionOptions().CollectionQuantum));
        Assert.Equal((11111, 30000), (EndpointOptions.DEFAULT_SILO_PORT, EndpointOptions.DEFAULT_GATEWAY_PORT));
        Assert.Equal(TimeSpan.FromMinutes(1), new ReminderOptions().MinimumReminderPeriod);
    }

    [Fact]
    public async Task A_test_cluster_starts_and_stops_silos()
    {
        var builder = new TestClusterBuilder(1);
        builder.AddSiloBuilderConfigurator<SiloSettings>();
        builder.AddClientBuilderConfigurator<ClientSettings>();
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        var calls = cluster.Client.GetGrain<ICalls>("x");
        Assert.Equal("x", await calls.Text("x"));
        Assert.Equal(TimeSpan.FromSeconds(17), cluster.Client.ServiceProvider.GetRequiredService<IOptions<ClientMessagingOptions>>()
            .Value.ResponseTimeout);
        var second = await cluster.StartAdditionalSiloAsync();
        await cluster.WaitForLivenessToStabilizeAsync();
        Assert.Equal(2, cluster.GetActiveSilos().Count());
        Assert.Equal(2, (await cluster.GrainFactory.GetGrain<IManagementGrain>(0).GetHosts(onlyActive: true)).Count);
        Assert.Equal(("Primary", "Secondary_1"), (cluster.Primary!.Name, second.Name));
        await cluster.StopSiloAsync(second);
        Assert.Equal("y", await cluster.Client.GetGrain<ICalls>("y").Text("y"));
        Assert.Single(cluster.GetActiveSilos());
    }

    [Fact]
    public async Task Grains_of_a_silo_that_is_killed_begin_elsewhere()
    {
        var builder = new InProcessTestClusterBuilder(2);
        builder.ConfigureSilo(static (_, silo) => silo.AddMemoryGrainStorageAsDefault());
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        var doomed = cluster.Silos[1];
        var grain = doomed.ServiceProvider.GetRequiredService<IGrainFactory>().GetGrain<INearby>("x");
        Assert.Equal(doomed.SiloAddress, await grain.Where());
        await cluster.KillSiloAsync(doomed);
        await cluster.WaitForLivenessToStabilizeAsync(didKill: true);
        Assert.Equal(cluster.Silos[0].SiloAddress, await cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>()
            .GetGrain<INearby>("x").Where());
    }

    private static async Task CallFromClientAsync(int gatewayPort, string clusterId)
    {
        using var host = new HostBuilder()
            .UseOrleansClient(client => client.UseLocalhostClustering(gatewayPort, "service", clusterId)).Build();
        await host.StartAsync();
        Assert.Equal("from a client", await host.Services.GetRequiredService<IClusterClient>().GetGrain<ICalls>("x").Text("from a client"));
        var management = host.Services.GetRequiredService<IClusterClient>().GetGrain<IManagementGrain>(0);
        if (Stated.ClientsMayManage)
            Assert.Single(await management.GetHosts(onlyActive: true));
        else
            await Assert.ThrowsAsync<UnauthorizedAccessException>(() => management.GetHosts(onlyActive: true));
        await host.StopAsync();
    }

    private static HostApplicationBuilder NewHost()
    {
        var builder = Host.CreateApplicationBuilder();
        builder.Logging.ClearProviders();
        return builder;
    }
}
