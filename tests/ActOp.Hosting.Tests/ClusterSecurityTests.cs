using System.Net;
using ActOp.Configuration;
using ActOp.TestClusters;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace ActOp.Hosting.Tests;

/// <summary>A cluster with a secret lets in who knows it.</summary>
public class ClusterSecurityTests
{
    private const string Secret = "the secret of the silos, random";
    private const string ClientSecret = "the secret of the clients, random";

    [Fact]
    public async Task Silos_and_clients_that_know_their_secrets_form_a_cluster()
    {
        await using var cluster = Cluster(client => client.UseClusterSecret(ClientSecret));
        await cluster.DeployAsync();
        Assert.Equal("hello", await cluster.Client.GetGrain<IEchoGrain>("secret").Echo("hello"));
    }

    [Fact]
    public async Task A_client_without_the_secret_is_not_let_in_and_learns_why()
    {
        var log = new LogCapture();
        await using var cluster = Cluster(client =>
        {
            client.UseClusterSecret("a secret of another cluster");
            client.Services.AddSingleton<ILoggerProvider>(log);
        });
        await Assert.ThrowsAnyAsync<Exception>(() => cluster.DeployAsync());
        Assert.Contains(log.Lines(LogLevel.Warning), line =>
            line.Contains("NotAuthenticated", StringComparison.Ordinal));
    }

    [Fact]
    public void Secrets_and_limits_come_from_the_configuration()
    {
        var host = new HostBuilder().UseOrleans(_ => { }).ConfigureAppConfiguration(configuration => configuration.AddInMemoryCollection(
            new Dictionary<string, string?>
            {
                ["ActOp:Security:Secret"] = Secret,
                ["ActOp:Security:AcceptedSecrets:0"] = ClientSecret,
                ["ActOp:Limits:MaxConnections"] = "77",
            })).Build();
        var options = host.Services.GetRequiredService<IOptions<ClusterSecurityOptions>>().Value;
        Assert.Equal((Secret, ClientSecret), (options.Secret, Assert.Single(options.AcceptedSecrets)));
        Assert.Equal(77, host.Services.GetRequiredService<IOptions<ConnectionLimitOptions>>().Value.MaxConnections);
    }

    [Theory]
    [InlineData("OperatorSecret", Secret)]
    [InlineData("OperatorSecret", ClientSecret)]
    [InlineData("AcceptedOperatorSecrets:0", ClientSecret)]
    public async Task A_secret_of_operators_that_others_have_too_is_refused(string key, string secret)
    {
        using var host = new HostBuilder().UseOrleans(static silo => silo.UseLocalhostClustering()).ConfigureAppConfiguration(
            configuration => configuration.AddInMemoryCollection(new Dictionary<string, string?>
            {
                ["ActOp:Security:Secret"] = Secret,
                ["ActOp:Security:ClientSecret"] = ClientSecret,
                ["ActOp:Security:OperatorSecret"] = "the secret of operators alone",
                ["ActOp:Security:" + key] = secret,
            })).Build();
        var exception = await Assert.ThrowsAsync<OrleansConfigurationException>(() => host.StartAsync());
        Assert.Contains("ClusterSecurityOptions.OperatorSecret is also a secret of silos or clients", exception.Message,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("silo")]
    [InlineData("client")]
    public async Task A_silo_that_would_listen_to_everybody_does_not_start(string role)
    {
        var exception = await Assert.ThrowsAsync<OrleansConfigurationException>(() => StartOpenAsync(silo =>
        {
            if (role == "client")
                silo.Configure<EndpointOptions>(static options => options.SiloListeningEndpoint = new IPEndPoint(IPAddress.Loopback, 0));
        }));
        Assert.Contains("trust whoever connects as a " + role, exception.Message, StringComparison.Ordinal);
        Assert.Contains("UseClusterSecret", exception.Message, StringComparison.Ordinal);
        Assert.Contains("ClusterSecurityOptions.AllowUnprotected", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_silo_listens_to_everybody_with_a_secret_or_if_it_is_told_to()
    {
        await StartOpenAsync(static silo => silo.UseClusterSecret(Secret));
        await StartOpenAsync(static silo => silo.Configure<ClusterSecurityOptions>(static options => options.AllowUnprotected = true));
    }

    /// <summary>A silo that is reached at loopback and listens at all addresses of the machine, on ports that the system picks.</summary>
    private static async Task StartOpenAsync(Action<ISiloBuilder> configure)
    {
        using var host = new HostBuilder().UseOrleans(silo =>
        {
            silo.UseLocalhostClustering().Configure<EndpointOptions>(static options =>
            {
                options.SiloListeningEndpoint = new IPEndPoint(IPAddress.Any, 0);
                options.GatewayListeningEndpoint = new IPEndPoint(IPAddress.Any, 0);
            });
            configure(silo);
        }).Build();
        await host.StartAsync();
        await host.StopAsync();
    }

    private static InProcessTestCluster Cluster(Action<IClientBuilder> client)
    {
        var builder = new InProcessTestClusterBuilder(2);
        builder.ConfigureSilo((_, silo) => silo.UseClusterSecret(Secret, ClientSecret));
        builder.ConfigureClient(client);
        return builder.Build();
    }
}
