using ActOp.Harness.Processes;
using ActOp.PostgreSql.Directory;
using Npgsql;

namespace ActOp.PostgreSql.Tests;

/// <summary>The grain directory in PostgreSQL.</summary>
public sealed class GrainDirectoryTests(PostgresFixture postgres)
{
    private static readonly SiloAddress One = SiloAddress.New(System.Net.IPAddress.Loopback, 1, 1);
    private static readonly SiloAddress Other = SiloAddress.New(System.Net.IPAddress.Loopback, 2, 2);

    [Fact]
    public async Task The_first_registration_counts_until_it_is_removed_or_named_by_the_next_one()
    {
        await using var directory = new PostgresGrainDirectory(PostgresFixture.Open(await postgres.CreateAsync()), "cluster", "default");
        GrainAddress first = Address(1, One), second = Address(1, Other), third = Address(1, Other);
        Assert.Null(await directory.Lookup(first.GrainId));
        Assert.Equal(first, await directory.Register(first));
        Assert.Equal(first, await directory.Register(second));
        Assert.Equal(first, await directory.Register(second, third));
        Assert.Equal(second, await directory.Register(second, first));
        Assert.Equal(second, await directory.Register(second, first));
        Assert.Equal(second, await directory.Lookup(first.GrainId));
        await directory.Unregister(first);
        Assert.Equal(second, await directory.Lookup(first.GrainId));
        await directory.Unregister(second);
        await directory.Unregister(second);
        Assert.Null(await directory.Lookup(first.GrainId));
    }

    [Fact]
    public async Task Of_many_who_register_one_grain_at_the_same_time_all_learn_the_same()
    {
        var connectionString = await postgres.CreateAsync();
        PostgresGrainDirectory[] silos =
            [.. Enumerable.Range(0, 4)
                .Select(_ => new PostgresGrainDirectory(PostgresFixture.Open(connectionString), "cluster", "default"))];
        for (var grain = 0; grain < 20; grain++)
        {
            var told = await Task.WhenAll(
                Enumerable.Range(0, 12).Select(i => silos[i % 4].Register(Address(grain, i % 2 == 0 ? One : Other))));
            Assert.Single(told.Distinct());
        }

        foreach (var silo in silos)
            await silo.DisposeAsync();
    }

    [Fact]
    public async Task Silos_that_are_gone_lose_their_registrations_and_clusters_and_directories_are_apart()
    {
        var connectionString = await postgres.CreateAsync();
        await using var directory = new PostgresGrainDirectory(PostgresFixture.Open(connectionString), "cluster", "default");
        await using var apart = new PostgresGrainDirectory(PostgresFixture.Open(connectionString), "cluster", "apart");
        await using var foreign = new PostgresGrainDirectory(PostgresFixture.Open(connectionString), "foreign", "default");
        GrainAddress gone = Address(1, One), stays = Address(2, Other);
        foreach (var each in new[] { directory, apart, foreign })
        {
            Assert.Equal(gone, await each.Register(gone));
            Assert.Equal(stays, await each.Register(stays));
        }

        await directory.UnregisterSilos([One, SiloAddress.New(System.Net.IPAddress.Loopback, 9, 9)]);
        Assert.Null(await directory.Lookup(gone.GrainId));
        Assert.Equal(stays, await directory.Lookup(stays.GrainId));
        Assert.Equal(gone, await apart.Lookup(gone.GrainId));
        Assert.Equal(gone, await foreign.Lookup(gone.GrainId));
    }

    [Fact]
    public async Task Grains_of_a_silo_that_is_lost_are_registered_again_and_those_of_a_silo_that_stops_are_not_any_more()
    {
        var connectionString = await postgres.CreateAsync();
        await using var nodes = new Nodes(connectionString);
        var silos = await Task.WhenAll(nodes.StartSiloAsync(Quick(connectionString)), nodes.StartSiloAsync(Quick(connectionString)));
        var client = await nodes.StartClientAsync();
        await Nodes.SeesAsync(client, 2);
        Assert.Equal(2, (await Nodes.PlacesAsync(client, 0, 60)).Count);
        Assert.Equal(60L,
            await ScalarAsync(
                connectionString, "select count(*) from actop_directory where grain_id like 'place/%' and directory = 'default'"));

        await nodes.StopAsync(silos[1]);
        Assert.Single(await Nodes.PlacesAsync(client, 0, 60));
        Assert.Equal(
            1L, await ScalarAsync(connectionString, "select count(distinct silo) from actop_directory where grain_id like 'place/%'"));
    }

    [Fact]
    public async Task An_outage_of_the_database_delays_new_grains_and_no_others()
    {
        Assert.NotNull(postgres.Server);
        await using var server = await PostgresFixture.StartServerAsync();
        await using var nodes = new Nodes(server.ConnectionString);
        var silo = await nodes.StartSiloAsync(Quick(server.ConnectionString));
        await Nodes.PlacesAsync(silo, 0, 10);
        await server.KillAsync();
        await Nodes.PlacesAsync(silo, 0, 10);
        var late = Nodes.PlacesAsync(silo, 10, 1);
        await Nodes.PlacesAsync(silo, 0, 10);
        Assert.False(late.IsCompleted);
        await server.StartAgainAsync();
        await late;
    }

    [Fact]
    public async Task The_configuration_names_the_directory()
    {
        var connectionString = await postgres.CreateAsync();
        await using var nodes = new Nodes(connectionString);
        var ports = Ports.FindFree(2);
        var silo = await nodes.StartAsync(
            static builder => builder.UseOrleans(), ("Endpoints:AdvertisedIPAddress", "127.0.0.1"), ("Endpoints:SiloPort", $"{ports[0]}"),
            ("Endpoints:GatewayPort", $"{ports[1]}"), ("Clustering:ProviderType", "Development"),
            ("GrainDirectory:default:ProviderType", "AdoNet"), ("GrainDirectory:default:ConnectionString", connectionString));
        await Nodes.PlacesAsync(silo, 0, 3);
        Assert.Equal(3L, await ScalarAsync(connectionString, "select count(*) from actop_directory where grain_id like 'place/%'"));
    }

    private static Action<ISiloBuilder> Quick(string connectionString) => silo => silo.UseAdoNetGrainDirectoryAsDefault(options =>
    {
        options.Invariant = "Npgsql";
        options.ConnectionString = connectionString;
    });

    private static GrainAddress Address(int key, SiloAddress silo) => new()
    {
        GrainId = GrainId.Create("note", key.ToString()),
        SiloAddress = silo,
        ActivationId = ActivationId.NewId(),
        MembershipVersion = new MembershipVersion(key),
    };

    private static async Task<object?> ScalarAsync(string connectionString, string sql)
    {
        await using var source = NpgsqlDataSource.Create(connectionString);
        await using var command = source.CreateCommand(sql);
        return await command.ExecuteScalarAsync();
    }
}
