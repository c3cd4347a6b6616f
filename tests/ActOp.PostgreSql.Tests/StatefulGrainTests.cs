using Orleans.Storage;

namespace ActOp.PostgreSql.Tests;

/// <summary>Counts in its state.</summary>
public interface ICountGrain : IGrainWithStringKey
{
    Task<int> Add();

    Task<int> Read();

    Task Clear();
}

public sealed class CountGrain([PersistentState("count", "counts")] IPersistentState<CountGrain.Count> count) : Grain, ICountGrain
{
    public async Task<int> Add()
    {
        count.State.Number++;
        await count.WriteStateAsync();
        return count.State.Number;
    }

    public Task<int> Read() => Task.FromResult(count.State.Number);

    public Task Clear() => count.ClearStateAsync();

    [GenerateSerializer]
    public sealed class Count
    {
        [Id(0)]
        public int Number { get; set; }
    }
}

/// <summary>Has a reminder.</summary>
public interface IWakefulGrain : IGrainWithIntegerKey
{
    Task Register(string name);

    Task<string[]> Names();
}

public sealed class WakefulGrain : Grain, IWakefulGrain, IRemindable
{
    public Task Register(string name) => this.RegisterOrUpdateReminder(name, TimeSpan.FromHours(1), TimeSpan.FromHours(1));

    public async Task<string[]> Names() => [.. (await this.GetReminders()).Select(static reminder => reminder.ReminderName)];

    public Task ReceiveReminder(string reminderName, TickStatus status) => Task.CompletedTask;
}

/// <summary>Grains with states in PostgreSQL.</summary>
public sealed class StatefulGrainTests(PostgresFixture postgres)
{
    [Fact]
    public async Task A_state_outlives_the_cluster_and_a_clear()
    {
        var connectionString = await postgres.CreateAsync();
        for (var life = 1; life <= 2; life++)
        {
            await using var nodes = new Nodes(connectionString);
            var silo = await nodes.StartSiloAsync(Store(connectionString));
            Assert.Equal(life, await Grain(silo).Add());
        }

        await using var last = new Nodes(connectionString);
        var host = await last.StartSiloAsync(Store(connectionString));
        Assert.Equal(2, await Grain(host).Read());
        await Grain(host).Clear();
        Assert.Equal(1, await Grain(host).Add());
    }

    [Fact]
    public async Task A_reminder_outlives_the_cluster()
    {
        var connectionString = await postgres.CreateAsync();
        for (var life = 1; life <= 2; life++)
        {
            await using var nodes = new Nodes(connectionString);
            var host = await nodes.StartSiloAsync(silo => silo.UseAdoNetReminderService(options =>
            {
                options.Invariant = "Npgsql";
                options.ConnectionString = connectionString;
            }));
            var grain = host.Services.GetRequiredService<IGrainFactory>().GetGrain<IWakefulGrain>(1);
            if (life == 1)
                await grain.Register("morning");
            Assert.Equal(["morning"], await grain.Names());
        }
    }

    /// <summary>Two clusters of one service: what two activations of one grain would do.</summary>
    [Fact]
    public async Task Of_two_activations_that_write_one_state_the_later_one_fails_and_starts_again_from_what_is_there()
    {
        var connectionString = await postgres.CreateAsync();
        await using var nodes = new Nodes(connectionString);
        var one = await nodes.StartSiloAsync(Store(connectionString));
        var other = await nodes.StartSiloAsync(silo =>
        {
            Store(connectionString)(silo);
            silo.Configure<ClusterOptions>(static options => options.ClusterId = "other");
        });
        Assert.Equal(1, await Grain(one).Add());
        Assert.Equal(2, await Grain(other).Add());

        await Assert.ThrowsAsync<InconsistentStateException>(() => Grain(one).Add());

        Assert.Equal(3, await Grain(one).Add());
        Assert.Equal(3, await Grain(one).Read());
    }

    [Fact]
    public async Task The_configuration_names_storage_and_reminders()
    {
        var connectionString = await postgres.CreateAsync();
        await using var nodes = new Nodes(connectionString);
        var ports = Harness.Processes.Ports.FindFree(2);
        var silo = await nodes.StartAsync(
            static builder => builder.UseOrleans(), ("Endpoints:AdvertisedIPAddress", "127.0.0.1"), ("Endpoints:SiloPort", $"{ports[0]}"),
            ("Endpoints:GatewayPort", $"{ports[1]}"), ("Clustering:ProviderType", "Development"),
            ("GrainStorage:counts:ProviderType", "AdoNet"), ("GrainStorage:counts:ConnectionString", connectionString),
            ("Reminders:ProviderType", "AdoNet"), ("Reminders:ConnectionString", connectionString));

        Assert.Equal(1, await Grain(silo).Add());
        await silo.Services.GetRequiredService<IReminderTable>().StartAsync(TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task A_storage_with_another_database_than_PostgreSQL_is_refused_at_the_start()
    {
        await using var nodes = new Nodes(await postgres.CreateAsync());
        var refused = await Assert.ThrowsAsync<OrleansConfigurationException>(() => nodes.StartSiloAsync(
            static silo => silo.AddAdoNetGrainStorage("counts", static options => options.ConnectionString = "Host=x")));

        Assert.Contains("AdoNetGrainStorageOptions.Invariant", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_hash_depends_on_every_byte()
    {
        var hasher = new OrleansDefaultHasher();
        var bytes = Enumerable.Range(0, 40).Select(static one => (byte)one).ToArray();
        HashSet<int> hashes = [];
        for (var length = 0; length <= bytes.Length; length++)
            Assert.True(hashes.Add(hasher.Hash(bytes[..length])));
        for (var at = 0; at < bytes.Length; at++)
        {
            var changed = bytes.ToArray();
            changed[at] ^= 0x80;
            Assert.True(hashes.Add(hasher.Hash(changed)));
        }
    }

    private static ICountGrain Grain(IHost host) => host.Services.GetRequiredService<IGrainFactory>().GetGrain<ICountGrain>("a/b ä");

    private static Action<ISiloBuilder> Store(string connectionString) => silo => silo.AddAdoNetGrainStorage("counts", options =>
    {
        options.Invariant = "Npgsql";
        options.ConnectionString = connectionString;
    });
}
