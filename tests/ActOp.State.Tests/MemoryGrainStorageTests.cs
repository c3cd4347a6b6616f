using ActOp.TestClusters;
using Microsoft.Extensions.Logging;
using Orleans.Storage;

namespace ActOp.State.Tests;

public class MemoryGrainStorageTests
{
    [Fact]
    public async Task Records_survive_the_silo_of_their_grain_and_are_copies_with_checked_ETags()
    {
        await using var cluster = await TestSilos.StartAsync(
            3, silo => silo.AddMemoryGrainStorageAsDefault(options => options.NumStorageGrains = 1));
        var storage = cluster.Silos[0].ServiceProvider.GetRequiredKeyedService<IGrainStorage>("Default");
        // The storage grain gets a silo of its own, and another silo is killed.
        await Place.On(cluster.Silos[1].SiloAddress, () => Read(storage, GrainId.Create("a", "b")));
        var grain = cluster.Client.GetGrain<IDefaultLedger>("kept");
        await Place.On(cluster.Silos[2].SiloAddress, () => grain.Add(11));
        var third = cluster.Silos[2].SiloAddress;
        await cluster.KillSiloAsync(cluster.Silos[2]);
        await cluster.WaitForLivenessToStabilizeAsync(didKill: true);
        await cluster.LinkLostAsync(third);
        Assert.Equal(11, await grain.Total());

        var record = await Read(storage, grain.GetGrainId());
        Assert.Equal((11, true), (record.State!.Balance, record.RecordExists));
        record.State.Balance = 12;
        Assert.Equal(11, (await Read(storage, grain.GetGrainId())).State!.Balance);
        await storage.WriteStateAsync("state", grain.GetGrainId(), record);
        var late = new GrainState<Account>(new Account(), "no such");
        var conflict = await Assert.ThrowsAsync<InconsistentStateException>(
            () => storage.WriteStateAsync("state", grain.GetGrainId(), late));
        Assert.Equal((record.ETag, "no such"), (conflict.StoredEtag, conflict.CurrentEtag));
        await Assert.ThrowsAsync<InconsistentStateException>(() => storage.ClearStateAsync("state", grain.GetGrainId(), late));
        await storage.ClearStateAsync("state", grain.GetGrainId(), record);
        Assert.Equal((0, null, false), (record.State!.Balance, record.ETag, record.RecordExists));
        Assert.False((await Read(storage, grain.GetGrainId())).RecordExists);
    }

    /// <summary>A client chooses the bytes of a key; as text, all that are no UTF-8 are the same.</summary>
    [Fact]
    public async Task Grains_whose_keys_are_no_text_have_records_of_their_own()
    {
        await using var cluster = await TestSilos.StartAsync(
            1, silo => silo.AddMemoryGrainStorageAsDefault(options => options.NumStorageGrains = 1));
        var storage = cluster.Silos[0].ServiceProvider.GetRequiredKeyedService<IGrainStorage>("Default");
        GrainId[] grains = [KeyOf(0xFE), KeyOf(0xFF), KeyOf(0xFE, 0xFF), GrainId.Create("a", "\uFFFD")];
        for (var number = 0; number < grains.Length; number++)
            await storage.WriteStateAsync("state", grains[number], new GrainState<Account>(new Account { Balance = number }));
        for (var number = 0; number < grains.Length; number++)
            Assert.Equal(number, (await Read(storage, grains[number])).State!.Balance);

        static GrainId KeyOf(params byte[] key) => new(GrainType.Create("a"), new IdSpan(key));
    }

    [Fact]
    public async Task Records_survive_a_graceful_stop_of_their_silo()
    {
        await using var cluster = await TestSilos.StartAsync(
            2, silo => silo.AddMemoryGrainStorageAsDefault(options => options.NumStorageGrains = 1));
        var storage = cluster.Silos[0].ServiceProvider.GetRequiredKeyedService<IGrainStorage>("Default");
        var record = new GrainState<Account>(new Account { Balance = 5 });
        await Place.On(cluster.Silos[1].SiloAddress, () => storage.WriteStateAsync("state", GrainId.Create("a", "b"), record));
        await cluster.StopSiloAsync(cluster.Silos[1]);
        Assert.Equal(5, (await Read(storage, GrainId.Create("a", "b"))).State!.Balance);
    }

    [Fact]
    public async Task The_stop_of_the_last_silo_warns_of_nothing()
    {
        var log = new LogCapture();
        await using var cluster = await TestSilos.StartAsync(
            1, silo => silo.AddMemoryGrainStorageAsDefault().Services.AddSingleton<ILoggerProvider>(log));
        await cluster.Client.GetGrain<IDefaultLedger>("kept").Add(1);
        await cluster.StopAllSilosAsync();
        // How long a turn takes is up to the machine.
        Assert.DoesNotContain(log.Lines(LogLevel.Warning), static line => !line.StartsWith("A turn of ", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_slow_storage_stores_what_it_gets_unless_it_only_pretends_to()
    {
        await using var cluster = await TestSilos.StartAsync();
        foreach (var pretends in new[] { false, true })
        {
            var options = new MemoryStorageWithLatencyOptions { Latency = TimeSpan.FromMilliseconds(1), MockCallsOnly = pretends };
            var storage = ActivatorUtilities.CreateInstance<MemoryGrainStorageWithLatency>(
                cluster.Silos[0].ServiceProvider, "slow" + pretends, options);
            await storage.WriteStateAsync("state", GrainId.Create("a", "b"), new GrainState<Account>(new Account { Balance = 3 }));
            Assert.Equal(pretends ? 0 : 3, (await Read(storage, GrainId.Create("a", "b"))).State?.Balance ?? 0);
            await storage.ClearStateAsync("state", GrainId.Create("a", "b"), await Read(storage, GrainId.Create("a", "b")));
        }
    }

    [Fact]
    public async Task A_slow_storage_answers_after_its_latency()
    {
        var clock = new FakeClock();
        await using var cluster = await TestSilos.StartAsync(1, silo => silo.Services.AddSingleton<TimeProvider>(clock));
        var options = new MemoryStorageWithLatencyOptions { Latency = TimeSpan.FromSeconds(2) };
        var storage = ActivatorUtilities.CreateInstance<MemoryGrainStorageWithLatency>(cluster.Silos[0].ServiceProvider, "slow", options);
        var first = storage.WriteStateAsync("state", GrainId.Create("a", "b"), new GrainState<Account>(new Account()));
        options.Latency = TimeSpan.Zero;
        await storage.WriteStateAsync("state", GrainId.Create("a", "c"), new GrainState<Account>(new Account()));
        Assert.False(first.IsCompleted);
        clock.Advance(TimeSpan.FromSeconds(2));
        await first.WaitAsync(Gate.Patience);
    }

    [Fact]
    public async Task Wrong_options_fail_the_start_and_are_named()
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo((_, silo) => silo.AddMemoryGrainStorage("odd", options => options.NumStorageGrains = 0));
        await using var cluster = builder.Build();
        var error = await Assert.ThrowsAnyAsync<Exception>(cluster.DeployAsync);
        Assert.Contains("NumStorageGrains", error.ToString(), StringComparison.Ordinal);
    }

    private static async Task<GrainState<Account>> Read(IGrainStorage storage, GrainId grain)
    {
        var record = new GrainState<Account>();
        await storage.ReadStateAsync("state", grain, record);
        return record;
    }
}
