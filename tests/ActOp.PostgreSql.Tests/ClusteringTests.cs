using System.Data.Common;
using ActOp.Harness.Processes;
using ActOp.PostgreSql.Membership;
using ActOp.Runtime.Cluster;
using Microsoft.Extensions.Hosting;
using Npgsql;

namespace ActOp.PostgreSql.Tests;

/// <summary>Clusters whose membership is in PostgreSQL.</summary>
public sealed class ClusteringTests(PostgresFixture postgres)
{
    [Fact]
    public async Task Silos_and_clients_find_each_other_by_the_database_alone()
    {
        await using var nodes = new Nodes(await postgres.CreateAsync());
        var silos = await Task.WhenAll(nodes.StartSiloAsync(), nodes.StartSiloAsync(), nodes.StartSiloAsync());
        foreach (var silo in silos)
            await Nodes.SeesAsync(silo, 3);
        var client = await nodes.StartClientAsync();
        await Nodes.SeesAsync(client, 3);

        Assert.InRange((await Nodes.PlacesAsync(client, 0, 60)).Count, 2, 3);
    }

    [Fact]
    public async Task A_client_that_starts_first_waits_for_a_silo()
    {
        await using var nodes = new Nodes(await postgres.CreateAsync());
        var client = nodes.StartClientAsync();
        await nodes.StartSiloAsync();

        Assert.Single(await Nodes.PlacesAsync(await client, 0, 3));
    }

    /// <summary>The client knows only silos that are gone: the table is where it finds the new ones.</summary>
    [Fact]
    public async Task A_client_follows_a_cluster_that_is_replaced_whole()
    {
        await using var nodes = new Nodes(await postgres.CreateAsync());
        var first = await nodes.StartSiloAsync();
        var client = await nodes.StartClientAsync();
        var before = await Nodes.PlacesAsync(client, 0, 3);
        await nodes.StopAsync(first);

        await nodes.StartSiloAsync();

        var after = await SoonAsync(() => Nodes.PlacesAsync(client, 100, 3));
        Assert.Empty(after.Intersect(before));
    }

    [Fact]
    public async Task A_silo_that_leaves_is_dead_in_the_table_and_its_row_goes_when_there_are_too_many()
    {
        var connectionString = await postgres.CreateAsync();
        await using var nodes = new Nodes(connectionString);
        var kept = await nodes.StartSiloAsync(
            static silo => silo.Configure<ClusterMembershipOptions>(options => options.MaxDefunctSiloEntries = 1));
        for (var turn = 0; turn < 3; turn++)
        {
            var silo = await nodes.StartSiloAsync();
            await Nodes.SeesAsync(kept, 2);
            await nodes.StopAsync(silo);
            await Nodes.SeesAsync(kept, 1);
        }

        await using var database = PostgresFixture.Open(connectionString);
        var table = new PostgresMembershipTable(database, "default");
        await SoonAsync(async () =>
        {
            var rows = (await table.Execute(new TableRequest(1, TableOperation.Read), CancellationToken.None)).Snapshot.Rows;
            return Assert.Single(rows, static row => !row.IsAlive);
        });
    }

    /// <summary>
    /// Calls are answered while the database is gone, to grains that are active and to new ones; then a silo joins again.
    /// </summary>
    [Fact]
    public async Task An_outage_of_the_database_kills_no_silo_and_ends_no_call()
    {
        Assert.NotNull(postgres.Server);
        await using var server = await PostgresFixture.StartServerAsync();
        await using var nodes = new Nodes(server.ConnectionString);
        var silos = await Task.WhenAll(nodes.StartSiloAsync(Quick), nodes.StartSiloAsync(Quick));
        var client = await nodes.StartClientAsync();
        await Nodes.SeesAsync(client, 2);

        await server.KillAsync();
        Assert.Equal(2, (await Nodes.PlacesAsync(client, 0, 200)).Count);
        var late = nodes.StartSiloAsync(Quick);
        Assert.Equal(2, (await Nodes.PlacesAsync(client, 0, 300)).Count);
        await server.StartAgainAsync();

        await late;
        foreach (var silo in silos)
            await Nodes.SeesAsync(silo, 3);
        await Nodes.SeesAsync(client, 3);
    }

    [Fact]
    public async Task Two_clusters_in_one_database_do_not_see_each_other()
    {
        await using var nodes = new Nodes(await postgres.CreateAsync());
        var one = await nodes.StartSiloAsync();
        var other = await nodes.StartSiloAsync(
            static silo => silo.Configure<ClusterOptions>(static options => options.ClusterId = "other"));

        Assert.Equal(1, Nodes.ViewOf(one).ActiveSilos.Length);
        Assert.Equal(1, Nodes.ViewOf(other).ActiveSilos.Length);
    }

    [Fact]
    public async Task The_configuration_names_the_database()
    {
        var connectionString = await postgres.CreateAsync();
        await using var nodes = new Nodes(connectionString);
        var ports = Ports.FindFree(2);
        await nodes.StartAsync(
            static builder => builder.UseOrleans(), ("Endpoints:AdvertisedIPAddress", "127.0.0.1"), ("Endpoints:SiloPort", $"{ports[0]}"),
            ("Endpoints:GatewayPort", $"{ports[1]}"), ("Clustering:ProviderType", "AdoNet"), ("Clustering:Invariant", "Npgsql"),
            ("Clustering:ConnectionString", connectionString));
        var client = await nodes.StartAsync(
            static builder => builder.UseOrleansClient(), ("Clustering:ProviderType", "AdoNet"),
            ("Clustering:ConnectionString", connectionString));

        Assert.Single(await Nodes.PlacesAsync(client, 0, 3));
    }

    /// <summary>As .NET Aspire passes a database: a type of its resource, and a key that is the name of a connection string.</summary>
    [Theory]
    [InlineData("PostgresDatabase")]
    [InlineData("PostgresServer")]
    public async Task The_configuration_names_a_resource(string type)
    {
        var connectionString = await postgres.CreateAsync();
        await using var nodes = new Nodes(connectionString);
        var ports = Ports.FindFree(2);
        await nodes.StartAsync(
            Silo, ("Endpoints:AdvertisedIPAddress", "127.0.0.1"), ("Endpoints:SiloPort", $"{ports[0]}"),
            ("Endpoints:GatewayPort", $"{ports[1]}"), ("Clustering:ProviderType", type), ("Clustering:ServiceKey", "members"));
        var client = await nodes.StartAsync(Client, ("Clustering:ProviderType", type), ("Clustering:ServiceKey", "members"));

        Assert.Single(await Nodes.PlacesAsync(client, 0, 3));

        void Silo(HostApplicationBuilder builder)
        {
            builder.Services.AddKeyedSingleton<DbDataSource>("members", (_, _) => NpgsqlDataSource.Create(connectionString));
            builder.UseOrleans();
        }

        void Client(HostApplicationBuilder builder)
        {
            builder.Configuration["ConnectionStrings:members"] = connectionString;
            builder.UseOrleansClient();
        }
    }

    [Fact]
    public async Task The_data_source_of_the_application_is_used_and_left_open()
    {
        await using var source = NpgsqlDataSource.Create(await postgres.CreateAsync());
        await using (var nodes = new Nodes("Host=nowhere.invalid"))
        {
            await nodes.StartSiloAsync(silo => silo.Configure<AdoNetClusteringSiloOptions>(options => options.DataSource = source));
        }

        await using var command = source.CreateCommand("select count(*) from actop_silo");
        Assert.Equal(1L, await command.ExecuteScalarAsync());
    }

    [Fact]
    public async Task Another_database_than_PostgreSQL_is_refused_at_the_start()
    {
        await using var nodes = new Nodes("Host=x");
        var refused = await Assert.ThrowsAsync<OrleansConfigurationException>(
            () => nodes.StartSiloAsync(static silo => silo.Configure<AdoNetClusteringSiloOptions>(
                static options => options.Invariant = "MySql.Data.MySqlClient")));

        Assert.Contains("AdoNetClusteringSiloOptions.Invariant", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_database_that_refuses_the_silo_fails_its_start_at_once()
    {
        await using var nodes = new Nodes(
            new NpgsqlConnectionStringBuilder(postgres.Server.ConnectionString) { Database = "absent" }.ConnectionString);
        var refused = await Assert.ThrowsAsync<OrleansConfigurationException>(() => nodes.StartSiloAsync());

        Assert.Contains("AdoNetClusteringSiloOptions", refused.Message, StringComparison.Ordinal);
        Assert.Contains("absent", refused.Message, StringComparison.Ordinal);
    }

    private static void Quick(ISiloBuilder silo) => silo.Configure<ClusterMembershipOptions>(static options =>
    {
        options.TableRefreshTimeout = TimeSpan.FromSeconds(1);
        options.IAmAliveTablePublishTimeout = TimeSpan.FromSeconds(1);
    });

    /// <summary>Tries until it works, as an application would; the limit makes it end.</summary>
    private static async Task<T> SoonAsync<T>(Func<Task<T>> attempt)
    {
        using var limit = new CancellationTokenSource(PostgresFixture.Limit);
        while (true)
        {
            try
            {
                return await attempt();
            }
            catch (Exception exception) when (exception is OrleansException or Xunit.Sdk.XunitException && !limit.IsCancellationRequested)
            {
                await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, limit.Token);
            }
        }
    }
}
