using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace ActOp.PostgreSql.Tests;

/// <summary>The health checks of a silo while its database is away.</summary>
public sealed class HealthTests(PostgresFixture postgres)
{
    [Fact]
    public async Task A_silo_whose_database_is_away_is_alive_and_ready_and_degraded_until_it_is_back()
    {
        Assert.NotNull(postgres.Server);
        await using var server = await PostgresFixture.StartServerAsync();
        await using var nodes = new Nodes(server.ConnectionString);
        var silo = await nodes.StartSiloAsync(static silo =>
        {
            silo.Services.AddHealthChecks().AddActOp();
            silo.Configure<ClusterMembershipOptions>(static options =>
            {
                options.TableRefreshTimeout = TimeSpan.FromSeconds(1);
                options.IAmAliveTablePublishTimeout = TimeSpan.FromSeconds(1);
            });
        });
        var checks = silo.Services.GetRequiredService<HealthCheckService>();
        await BecomesAsync(checks, HealthStatus.Healthy);

        await server.KillAsync();
        await BecomesAsync(checks, HealthStatus.Degraded);
        Assert.Equal(
            HealthStatus.Healthy, (await checks.CheckHealthAsync(TestContext.Current.CancellationToken)).Entries["actop-live"].Status);

        await server.StartAgainAsync();
        await BecomesAsync(checks, HealthStatus.Healthy);
    }

    private static async Task BecomesAsync(HealthCheckService checks, HealthStatus expected)
    {
        using var limit = new CancellationTokenSource(PostgresFixture.Limit);
        while ((await checks.CheckHealthAsync(limit.Token)).Entries["actop-ready"].Status != expected)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, limit.Token);
    }
}
