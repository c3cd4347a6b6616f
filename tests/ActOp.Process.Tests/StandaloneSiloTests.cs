using ActOp.Process.Silo;
using Microsoft.Extensions.Configuration;
using Orleans.TestingHost;

namespace ActOp.Process.Tests;

/// <summary>Test clusters whose silos are processes.</summary>
public sealed class StandaloneSiloTests
{
    private static readonly string Program = Path.Combine(AppContext.BaseDirectory, "ActOp.Process.Silo.dll");

    [Fact]
    public async Task The_silos_of_a_test_cluster_may_be_processes_of_their_own()
    {
        var builder = new TestClusterBuilder(2) { CreateSiloAsync = StandaloneSiloHandle.CreateDelegate(Program) };
        builder.Options.ConnectionTransport = ConnectionTransportType.TcpSocket;
        await using var cluster = builder.Build();
        await cluster.DeployAsync().WaitAsync(3 * Limits.Step);
        Assert.Equal(["Primary", "Secondary_1"], cluster.Silos.Select(static silo => silo.Name));
        var ports = await Task.WhenAll(Enumerable.Range(0, 40).Select(key => cluster.Client.GetGrain<IPlaceGrain>(key).Port().AsTask()));
        Assert.Equal(cluster.Silos.Select(static silo => silo.SiloAddress.Endpoint.Port).Order(), ports.Distinct().Order());
        var second = cluster.SecondarySilos[0];
        await cluster.StopSiloAsync(second);
        Assert.False(second.IsActive);
        Assert.Equal(cluster.Primary!.SiloAddress.Endpoint.Port, await cluster.Client.GetGrain<IPlaceGrain>(100).Port());
    }

    [Fact]
    public async Task A_program_that_ends_before_its_silo_has_started_fails_the_start_with_what_it_has_written()
    {
        var builder = new TestClusterBuilder(1);
        builder.ConfigureHostConfiguration(static configuration => configuration.AddInMemoryCollection(
            new Dictionary<string, string?> { [StandaloneSiloHandle.ExecutablePathConfigKey] = Program }));
        builder.Options.SiloBuilderConfiguratorTypes.Add("No.Such.Class, Nowhere");
        builder.CreateSiloAsync = StandaloneSiloHandle.Create;
        await using var cluster = builder.Build();
        var exception = await Assert.ThrowsAsync<InvalidOperationException>(() => cluster.DeployAsync().WaitAsync(3 * Limits.Step));
        Assert.Contains("No.Such.Class", exception.Message, StringComparison.Ordinal);
    }
}
