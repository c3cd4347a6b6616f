using Microsoft.Extensions.Hosting;
using Orleans.Messaging;

namespace ActOp.Hosting.Tests;

/// <summary>What a builder refuses, and when: at the call, when the services are asked for the client, or when the host starts.</summary>
public class BuilderErrorTests
{
    [Fact]
    public void A_host_builder_refuses_a_client_beside_a_silo_at_the_call() =>
        Assert.Throws<OrleansConfigurationException>(static () =>
            new HostBuilder().UseOrleans(static silo => silo.UseLocalhostClustering()).UseOrleansClient(static _ => { }));

    [Fact]
    public void A_host_builder_refuses_a_silo_beside_a_client_at_the_call() =>
        Assert.Throws<OrleansConfigurationException>(static () =>
            new HostBuilder().UseOrleansClient(static client => client.UseLocalhostClustering()).UseOrleans(static _ => { }));

    [Fact]
    public void A_host_builder_takes_two_parts_of_one_silo()
    {
        using var host = new HostBuilder().UseOrleans(static silo => silo.UseLocalhostClustering()).UseOrleans(static _ => { }).Build();
        Assert.NotNull(host.Services.GetRequiredService<IGrainFactory>());
    }

    [Theory]
    [InlineData(null, null)]
    [InlineData("c", null)]
    [InlineData(null, "s")]
    public void A_client_without_the_ids_of_its_cluster_is_refused_when_it_is_asked_for(string? cluster, string? service)
    {
        using var host =
            Client(client => client.Configure<ClusterOptions>(options => (options.ClusterId, options.ServiceId) = (cluster!, service!)));
        Assert.Throws<OrleansConfigurationException>(() => host.Services.GetRequiredService<IClusterClient>());
    }

    [Fact]
    public void A_client_without_grain_interfaces_is_refused_when_it_is_asked_for()
    {
        using var host = Client(static client => client.Configure<GrainTypeOptions>(static options => options.Interfaces.Clear()));
        Assert.Throws<OrleansConfigurationException>(() => host.Services.GetRequiredService<IClusterClient>());
    }

    [Fact]
    public void A_client_asks_its_list_of_gateways_only_when_it_starts()
    {
        using var host = Client(static _ => { });
        Assert.NotNull(host.Services.GetRequiredService<IClusterClient>());
    }

    [Fact]
    public async Task A_silo_without_grain_types_is_refused_when_it_starts()
    {
        using var host =
            new HostBuilder().UseOrleans(static silo => silo.UseLocalhostClustering().Configure<GrainTypeOptions>(static options =>
        {
            options.Classes.Clear();
            options.Interfaces.Clear();
        })).Build();
        await Assert.ThrowsAsync<OrleansConfigurationException>(() => host.StartAsync(TestContext.Current.CancellationToken));
    }

    [Fact]
    public async Task More_votes_than_silos_that_probe_are_refused_when_the_silo_starts()
    {
        using var host = new HostBuilder().UseOrleans(static silo => silo.UseLocalhostClustering().Configure<ClusterMembershipOptions>(
            static options => (options.NumVotesForDeathDeclaration, options.NumProbedSilos) = (10, 1))).Build();
        await Assert.ThrowsAsync<OrleansConfigurationException>(() => host.StartAsync(TestContext.Current.CancellationToken));
    }

    [Fact]
    public void The_services_of_a_silo_pass_the_validation_of_scopes_and_of_constructors()
    {
        using var host = new HostBuilder().UseOrleans(static silo => silo.UseLocalhostClustering())
            .UseDefaultServiceProvider(static options => options.ValidateScopes = options.ValidateOnBuild = true).Build();
        Assert.NotNull(host.Services.GetRequiredService<IClusterClient>());
    }

    private static IHost Client(Action<IClientBuilder> configure) => new HostBuilder().UseOrleansClient(client =>
    {
        client.Services.AddSingleton<IGatewayListProvider, NoGateways>();
        configure(client);
    }).Build();

    /// <summary>Fails whatever asks it.</summary>
    private sealed class NoGateways : IGatewayListProvider
    {
        public TimeSpan MaxStaleness => throw new NotSupportedException();

        public bool IsUpdatable => throw new NotSupportedException();

        public Task<IList<Uri>> GetGateways() => throw new NotSupportedException();

        public Task InitializeGatewayListProvider() => throw new NotSupportedException();
    }
}
