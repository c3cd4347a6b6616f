using ActOp.TestClusters;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans.Runtime.Diagnostics;
using Orleans.TestingHost.Diagnostics;
using Orleans.TestingHost.Logging;

namespace ActOp.Hosting.Tests.Clusters;

/// <summary>What tests of applications use beside the cluster: configuration, faults, events, logs.</summary>
public class TestHostTests
{
    [Fact]
    public async Task A_configurator_of_a_host_reads_the_properties_and_the_options_of_the_cluster()
    {
        var builder = new TestClusterBuilder(1);
        builder.Properties["colour"] = "red";
        builder.AddSiloBuilderConfigurator<HostReader>();
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        var read = cluster.GetSiloServiceProvider(cluster.Primary!.SiloAddress).GetRequiredService<Read>();
        Assert.Equal(new Read("red", builder.Options.ClusterId, 1), read);
        Assert.Throws<InvalidOperationException>(() => new HostBuilder().GetConfiguration());
    }

    [Fact]
    public async Task Hosts_of_the_factory_are_a_cluster_over_TCP()
    {
        using var ports = new TestClusterPortAllocator();
        var options = new TestClusterOptions { ClusterId = TestClusterBuilder.CreateClusterId(), ServiceId = "hosts" };
        (options.BaseSiloPort, options.BaseGatewayPort) = ports.AllocateConsecutivePortPairs(2);
        options.SiloBuilderConfiguratorTypes.Add(typeof(NamedSilo).AssemblyQualifiedName);
        options.ClientBuilderConfiguratorTypes.Add(typeof(NamedClient).AssemblyQualifiedName);
        using var empty = new TestCluster(options, [], ports);
        var configurations = Enumerable.Range(0, 2).Select(number => TestClusterHostFactory.DeserializeConfiguration(
            TestClusterHostFactory.SerializeConfiguration(new ConfigurationBuilder().AddInMemoryCollection(options.ToDictionary())
                .AddInMemoryCollection(TestSiloSpecificOptions.Create(empty, options, number).ToDictionary()).Build()))).ToArray();
        using var first = TestClusterHostFactory.CreateSiloHost("first", configurations[0]);
        await first.StartAsync();
        using var second = TestClusterHostFactory.CreateSiloHost("second", configurations[1]);
        await second.StartAsync();
        using var client = TestClusterHostFactory.CreateClusterClient(
            "client", configurations[0], static host => host.ConfigureServices(static services => services.AddSingleton("last")));
        await client.StartAsync();
        Assert.Equal("hi", await client.Services.GetRequiredService<IClusterClient>().GetGrain<IEchoGrain>("a").Echo("hi"));
        var details = second.Services.GetRequiredService<ILocalSiloDetails>();
        Assert.Equal(("Secondary_1", options.ClusterId, options.BaseSiloPort + 1),
            (details.Name, details.ClusterId, details.SiloAddress.Endpoint.Port));
        Assert.Equal("silo", first.Services.GetRequiredService<string>());
        Assert.Equal("last", client.Services.GetRequiredService<string>());
        Assert.Equal("client", client.Services.GetServices<string>().First());
        await client.StopAsync();
        await second.StopAsync();
        await first.StopAsync();
    }

    public sealed class NamedSilo : ISiloConfigurator
    {
        public void Configure(ISiloBuilder siloBuilder) => siloBuilder.Services.AddSingleton("silo");
    }

    public sealed class NamedClient : IClientBuilderConfigurator
    {
        public void Configure(IConfiguration configuration, IClientBuilder clientBuilder) => clientBuilder.Services.AddSingleton("client");
    }

    [Fact]
    public async Task A_storage_fails_when_a_test_has_told_it_to_once()
    {
        await using var cluster = await TestSilos.StartAsync(1, static silo => silo.AddFaultInjectionMemoryStorage("faulty"));
        var grain = cluster.Client.GetGrain<IFaultyKeeper>("a");
        var faults = cluster.Client.GetGrain<IStorageFaultGrain>("kept");
        await faults.AddFaultOnWrite(grain.GetGrainId(), new RandomlyInjectedStorageException());
        var failure = await Assert.ThrowsAsync<OrleansException>(() => grain.Keep(1));
        Assert.IsType<RandomlyInjectedStorageException>(failure.InnerException);
        await grain.Keep(2);
        await faults.AddFaultOnRead(grain.GetGrainId(), new OrleansException("gone"));
        Assert.Equal("gone", (await Assert.ThrowsAsync<OrleansException>(grain.ReadAgain)).Message);
        Assert.Equal(2, await grain.ReadAgain());
        await faults.AddFaultOnClear(grain.GetGrainId(), new RandomlyInjectedStorageException());
        await Assert.ThrowsAsync<OrleansException>(grain.Forget);
        await grain.Forget();
    }

    [Fact]
    public async Task A_storage_with_injected_faults_answers_after_its_latency()
    {
        await using var cluster = await TestSilos.StartAsync(1, static silo => silo.AddFaultInjectionMemoryStorage(
            "faulty", static _ => { }, static faults => faults.Latency = TimeSpan.FromMilliseconds(200)));
        var begin = TimeProvider.System.GetTimestamp();
        // One read at the activation, and one write.
        await cluster.Client.GetGrain<IFaultyKeeper>("slow").Keep(1);
        Assert.True(TimeProvider.System.GetElapsedTime(begin) >= TimeSpan.FromMilliseconds(390));
    }

    [Fact]
    public async Task A_collector_waits_for_events_of_the_runtime()
    {
        using var events = new DiagnosticEventCollector(GrainLifecycleEvents.ListenerName);
        await using var cluster = await TestSilos.StartAsync();
        var grain = cluster.Client.GetGrain<IWatched>(Guid.NewGuid());
        await grain.End();
        var ended = await events.WaitForEventAsync("Deactivated", one =>
            ((GrainLifecycleEvents.Deactivated)one.Payload!).GrainContext.GrainId == grain.GetGrainId(), Gate.Patience);
        Assert.Contains(ended, events.GetEvents("Deactivated"));
        Assert.NotEmpty(await events.WaitForEventCountAsync("Created", 1, Gate.Patience));
        await Assert.ThrowsAsync<TimeoutException>(() => events.WaitForEventAsync("nothing", TimeSpan.FromMilliseconds(1)));
    }

    [Fact]
    public void A_buffer_of_log_lines_is_shared_and_knows_its_warnings()
    {
        var buffer = new InMemoryLogBuffer();
        using var provider = new InMemoryLoggerProvider(buffer);
        provider.CreateLogger("here").LogInformation("a {Word}", "word");
        buffer.AssertNoWarningsOrErrors();
        provider.CreateLogger("there").LogWarning(new IOException("disk"), "bad");
        Assert.True(buffer.HasWarningsOrErrors);
        Assert.Equal(["a word", "bad"], buffer.AllEntries.Select(static one => one.Message));
        Assert.Contains("disk", Assert.Throws<InvalidOperationException>(buffer.AssertNoWarningsOrErrors).Message);
    }

    [Fact]
    public async Task A_handle_of_a_result_is_polled()
    {
        var handle = new AsyncResultHandle();
        Assert.False(await handle.WaitForFinished(TimeSpan.Zero));
        handle.Done = true;
        Assert.True(await handle.WaitForFinished(TimeSpan.Zero));
        handle.Reset();
        Assert.False(handle.Done);
    }

    public sealed record Read(string? Colour, string ClusterId, int Silos);

    public sealed class HostReader : IHostConfigurator
    {
        public void Configure(IHostBuilder hostBuilder)
        {
            var options = hostBuilder.GetTestClusterOptions();
            var read = new Read(hostBuilder.GetConfigurationValue("colour"), options.ClusterId, options.InitialSilosCount);
            hostBuilder.ConfigureServices(services => services.AddSingleton(read));
        }
    }
}

public interface IFaultyKeeper : IGrainWithStringKey
{
    Task Keep(int value);

    Task<int> ReadAgain();

    Task Forget();
}

public sealed class FaultyKeeper([PersistentState("kept", "faulty")] IPersistentState<Kept> kept) : Grain, IFaultyKeeper
{
    public Task Keep(int value)
    {
        kept.State.Value = value;
        return kept.WriteStateAsync();
    }

    public async Task<int> ReadAgain()
    {
        await kept.ReadStateAsync();
        return kept.State.Value;
    }

    public Task Forget() => kept.ClearStateAsync();
}

[GenerateSerializer]
public sealed class Kept
{
    [Id(0)]
    public int Value { get; set; }
}
