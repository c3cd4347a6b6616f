using ActOp.Configuration;
using ActOp.Tests.Clusters;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace ActOp.Tests.Hosting;

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

    private static InProcessTestCluster Cluster(Action<IClientBuilder> client)
    {
        var builder = new InProcessTestClusterBuilder(2);
        builder.ConfigureSilo((_, silo) => silo.UseClusterSecret(Secret, ClientSecret));
        builder.ConfigureClient(client);
        return builder.Build();
    }
}
