using System.Collections.Concurrent;
using ActOp.Runtime.Nodes;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace ActOp.Hosting.Tests.Clusters;

/// <summary>What a test cluster makes of its options.</summary>
public class TestClusterOptionTests
{
    [Fact]
    public async Task A_cluster_in_process_has_the_configured_ids_silos_ports_and_gateways()
    {
        var configured = new ConcurrentQueue<InProcessTestSiloSpecificOptions>();
        var clients = 0;
        var builder = new InProcessTestClusterBuilder();
        (builder.Options.ClusterId, builder.Options.ServiceId) = ("cluster of a test", "service of a test");
        builder.Options.InitialSilosCount = 3;
        builder.Options.InitializeClientOnDeploy = false;
        builder.Options.GatewayPerSilo = false;
        builder.Options.SiloHostConfigurationDelegates.Add((silo, _) => configured.Enqueue(silo));
        builder.Options.ClientHostConfigurationDelegates.Add(_ => clients++);
        await using var cluster = builder.Build();
        await cluster.DeployAsync();

        var nodes = cluster.Silos.Select(static silo => silo.ServiceProvider.GetRequiredService<Node>()).ToArray();
        Assert.Equal(["Silo_0", "Silo_1", "Silo_2"], configured.Select(static silo => silo.SiloName).Order(StringComparer.Ordinal));
        Assert.Equal(
            configured.Select(static silo => silo.SiloPort).Order(), nodes.Select(static node => node.Address.Endpoint.Port).Order());
        Assert.Equal(
            configured.Max(static silo => silo.GatewayPort), Assert.Single(nodes, static node => node.Gateway is not null).Gateway!.Port);
        Assert.Equal(("cluster of a test", "service of a test"), IdsOf(cluster.Silos[0].ServiceProvider));
        Assert.Equal(0, clients);
        await cluster.InitializeClientAsync();
        Assert.Equal(1, clients);
    }

    [Fact]
    public async Task A_cluster_has_the_configured_ids_silos_ports_and_gateways()
    {
        var builder = new TestClusterBuilder(3);
        (builder.Options.ClusterId, builder.Options.ServiceId) = ("cluster of a test", "service of a test");
        (builder.Options.BaseSiloPort, builder.Options.BaseGatewayPort) = (101, 201);
        builder.Options.InitializeClientOnDeploy = false;
        builder.Options.GatewayPerSilo = false;
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        var nodes = cluster.Silos.Select(static silo => ((InProcessSiloHandle)silo).ServiceProvider.GetRequiredService<Node>()).ToArray();
        Assert.Equal([101, 102, 103], nodes.Select(static node => node.Address.Endpoint.Port).Order());
        Assert.Equal(201, Assert.Single(nodes, static node => node.Gateway is not null).Gateway!.Port);
        Assert.Equal(("cluster of a test", "service of a test"), IdsOf(cluster.GetSiloServiceProvider(cluster.Primary!.SiloAddress)));
        Assert.Throws<InvalidOperationException>(() => cluster.Client);
    }

    [Fact]
    public async Task A_cluster_without_the_membership_of_the_test_needs_one_of_its_own()
    {
        var builder = new TestClusterBuilder(1);
        builder.Options.UseTestClusterMembership = false;
        await using var cluster = builder.Build();
        var exception = await Assert.ThrowsAnyAsync<Exception>(cluster.DeployAsync);
        Assert.Contains("clustering", exception.ToString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Warnings_are_written_to_a_file_of_the_folder_if_the_options_say_so(bool writes)
    {
        var folder = Directory.CreateTempSubdirectory();
        var builder = new TestClusterBuilder(1);
        (builder.Options.ConfigureFileLogging, builder.Options.ApplicationBaseDirectory) = (writes, folder.FullName);
        builder.Options.InitializeClientOnDeploy = false;
        await using (var cluster = builder.Build())
        {
            await cluster.DeployAsync();
            cluster.GetSiloServiceProvider(cluster.Primary!.SiloAddress).GetRequiredService<ILoggerFactory>().CreateLogger("a test")
                .Log(LogLevel.Warning, "something to read");
        }

        var file = Path.Combine(folder.FullName, builder.Options.ClusterId + ".log");
        Assert.Equal(writes, File.Exists(file)
            && (await File.ReadAllTextAsync(file)).Contains("something to read", StringComparison.Ordinal));
        folder.Delete(recursive: true);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Warnings_of_a_cluster_in_process_are_written_to_a_file_if_the_options_say_so(bool writes)
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.Options.ConfigureFileLogging = writes;
        builder.Options.InitializeClientOnDeploy = false;
        await using (var cluster = builder.Build())
        {
            await cluster.DeployAsync();
            cluster.Silos[0].ServiceProvider.GetRequiredService<ILoggerFactory>().CreateLogger("a test")
                .Log(LogLevel.Warning, "something to read");
        }

        var file = Path.Combine(Environment.CurrentDirectory, builder.Options.ClusterId + ".log");
        Assert.Equal(writes, File.Exists(file)
            && (await File.ReadAllTextAsync(file)).Contains("something to read", StringComparison.Ordinal));
        File.Delete(file);
    }

    private static (string Cluster, string Service) IdsOf(IServiceProvider services)
    {
        var options = services.GetRequiredService<IOptions<ClusterOptions>>().Value;
        return (options.ClusterId, options.ServiceId);
    }
}
