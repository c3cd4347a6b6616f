using ActOp.TestClusters;
using Orleans.Runtime.Hosting;
using Orleans.Storage;

namespace ActOp.State.Tests;

/// <summary>Two silos with a storage of the application, and memory as the default.</summary>
public sealed class StateCluster() : ClusterFixture(2)
{
    protected override void ConfigureSilo(ISiloBuilder silo)
    {
        silo.AddMemoryGrainStorageAsDefault();
        silo.Services.AddGrainStorage("shelf", static (_, name) => new ShelfStorage(name));
        silo.Services.AddGrainStorage("doubtful", static (_, name) => new DoubtfulShelf(name));
        silo.Services.AddSingleton(typeof(IAttributeToFactoryMapper<GreetingAttribute>), typeof(GreetingMapper));
    }
}

public class PersistentStateTests(StateCluster cluster) : IClassFixture<StateCluster>
{
    private (IKeeper Grain, Guid Key) New()
    {
        var key = Guid.NewGuid();
        return (cluster.Client.GetGrain<IKeeper>(key), key);
    }

    [Fact]
    public async Task A_grain_without_a_record_starts_with_new_states()
    {
        var (grain, _) = New();
        Assert.Equal((null, false, 0), await grain.Version());
        Assert.Equal(0, await grain.Balance());
        Assert.Equal(["read account"], ShelfStorage.Journal(grain.GetGrainId()));
    }

    [Fact]
    public async Task What_was_written_is_there_before_OnActivateAsync_of_the_next_activation()
    {
        var (grain, _) = New();
        await grain.Set(7);
        await grain.Write();
        Assert.Equal(("1", true, 0), await grain.Version());
        await grain.End();
        await cluster.Cluster.WaitForDeactivationAsync(grain);
        Assert.EndsWith("/7", await grain.Life(), StringComparison.Ordinal);
        Assert.Equal(("1", true, 0), await grain.Version());
    }

    [Fact]
    public async Task A_clear_removes_the_record_and_makes_a_new_state()
    {
        var (grain, _) = New();
        await grain.Set(7);
        await grain.Write();
        await grain.Clear();
        Assert.Equal(0, await grain.Balance());
        Assert.Equal((null, false, 0), await grain.Version());
        await grain.Set(8);
        await grain.Write();
        Assert.Equal(("1", true, 0), await grain.Version());
    }

    [Fact]
    public async Task A_read_drops_what_was_not_written()
    {
        var (grain, _) = New();
        await grain.Set(7);
        await grain.Write();
        await grain.Set(8);
        await grain.Read();
        Assert.Equal(7, await grain.Balance());
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_conflict_reaches_the_caller_and_ends_the_activation_that_raised_it_and_no_other(bool rethrow)
    {
        var (grain, key) = New();
        var other = cluster.Client.GetGrain<IOtherKeeper>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), other.Life);
        // On both silos: one call stays in the process as an object, one travels.
        foreach (var silo in new[] { 0, 1 })
        {
            (grain, key) = New();
            await Place.On(cluster.AddressOf(silo), () => grain.Set(1));
            await grain.Write();
            var life = await grain.Life();
            var otherLife = await other.Life();
            ShelfStorage.Overwrite("shelf", "account", grain.GetGrainId(), new Account { Balance = 50 });
            if (rethrow)
            {
                var conflict = await Assert.ThrowsAsync<InconsistentStateException>(() => other.WriteOf(key, rethrow));
                Assert.Equal(("2", "1"), (conflict.StoredEtag, conflict.CurrentEtag));
            }
            else
            {
                await other.WriteOf(key, rethrow);
            }

            Assert.NotEqual(life, await grain.Life());
            Assert.Equal(50, await grain.Balance());
            Assert.Equal(otherLife, await other.Life());
        }
    }

    [Fact]
    public async Task An_error_of_the_storage_reaches_the_caller_in_an_OrleansException_and_the_activation_goes_on()
    {
        var (grain, _) = New();
        await grain.Set(3);
        var life = await grain.Life();
        ShelfStorage.Fail(grain.GetGrainId(), "write", ShelfFault.OtherException);
        var error = await Assert.ThrowsAsync<OrleansException>(grain.Write);
        Assert.Contains("account", error.Message, StringComparison.Ordinal);
        Assert.Contains(nameof(ShelfStorage), error.Message, StringComparison.Ordinal);
        Assert.IsType<IOException>(error.InnerException);
        ShelfStorage.Fail(grain.GetGrainId(), "clear", ShelfFault.OrleansException);
        await Assert.ThrowsAsync<ShelfException>(grain.Clear);
        await grain.Write();
        Assert.Equal((life, 3), (await grain.Life(), await grain.Balance()));
    }

    [Fact]
    public async Task An_error_of_the_first_read_fails_the_activation()
    {
        var (grain, _) = New();
        ShelfStorage.Fail(grain.GetGrainId(), "read", ShelfFault.OrleansException);
        await Assert.ThrowsAsync<ShelfException>(grain.Balance);
    }

    [Fact]
    public async Task Operations_run_one_at_a_time_and_waiting_writes_become_one()
    {
        var (grain, _) = New();
        Assert.Equal(2, await grain.WriteTwice(1, 2));
        Assert.Equal(["read account", "write account", "write account"], ShelfStorage.Journal(grain.GetGrainId()));
        Assert.Equal(("2", true, 0), await grain.Version());
        await grain.Read();
        Assert.Equal(2, await grain.Balance());
    }

    [Fact]
    public async Task An_operation_outside_of_the_turns_of_the_grain_is_refused()
    {
        var (grain, _) = New();
        await Assert.ThrowsAsync<InvalidOperationException>(grain.WriteElsewhere);
    }

    [Fact]
    public async Task The_end_of_an_activation_waits_for_a_write_that_nobody_has_awaited()
    {
        var (grain, _) = New();
        using var gate = new Gate();
        await grain.Set(4);
        ShelfStorage.Stop(grain.GetGrainId(), gate);
        await grain.WriteWithoutWaiting();
        await gate.ArrivedAsync();
        var next = grain.Life();
        gate.Open();
        Assert.EndsWith("/5", await next, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_provider_that_does_not_exist_fails_the_activation_and_is_named_with_grain_and_state()
    {
        // The facet is made for the constructor.
        var failed = await Assert.ThrowsAsync<InvalidOperationException>(
            cluster.Client.GetGrain<IOdd>(Guid.NewGuid(), typeof(LostFacetGrain).FullName).Do);
        var facet = Assert.IsType<BadProviderConfigException>(failed.InnerException);
        Assert.Contains("nowhere", facet.Message, StringComparison.Ordinal);
        Assert.Contains("thing", facet.Message, StringComparison.Ordinal);
        Assert.Contains("lostfacet", facet.Message, StringComparison.Ordinal);
        var ledger = await Assert.ThrowsAsync<BadProviderConfigException>(cluster.Client.GetGrain<ILostLedger>("x").Total);
        Assert.Contains("nowhere", ledger.Message, StringComparison.Ordinal);
        Assert.Contains(nameof(LostLedgerGrain), ledger.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(typeof(LedgerGrain))]
    [InlineData(typeof(DefaultLedgerGrain))]
    public async Task A_grain_with_one_state_uses_the_provider_that_its_class_names_or_the_default_one(Type type)
    {
        var grain = type == typeof(LedgerGrain)
            ? cluster.Client.GetGrain<ILedger>(Guid.NewGuid().ToString(), type.FullName)
            : cluster.Client.GetGrain<IDefaultLedger>(Guid.NewGuid().ToString());
        Assert.Equal(5, await grain.Add(5));
        Assert.Equal(type == typeof(LedgerGrain) ? ["read state", "write state"] : [], ShelfStorage.Journal(grain.GetGrainId()));
        await cluster.Cluster.DeactivateAsync(grain);
        Assert.Equal(5, await grain.Total());
        await grain.Clear();
        Assert.Equal(0, await grain.Total());
        await cluster.Cluster.DeactivateAsync(grain);
        Assert.Equal(0, await grain.Total());
    }

    [Fact]
    public async Task A_state_may_have_a_type_that_is_not_public_and_its_name_from_the_parameter()
    {
        var grain = cluster.Client.GetGrain<IHiddenKeeper>(Guid.NewGuid());
        Assert.Equal(1, await grain.Count());
        await cluster.Cluster.DeactivateAsync(grain);
        Assert.Equal(2, await grain.Count());
    }

    [Fact]
    public async Task Facets_of_the_application_are_made_by_their_mapper()
    {
        Assert.Equal(
            "Hello first of greeted, Bye second of greeted.",
            await cluster.Client.GetGrain<IOdd>(Guid.NewGuid(), typeof(GreetedGrain).FullName).Do());
        var error = await Assert.ThrowsAsync<OrleansException>(
            cluster.Client.GetGrain<IOdd>(Guid.NewGuid(), typeof(UnmappedGrain).FullName).Do);
        Assert.Contains(nameof(UnmappedAttribute), error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_provider_that_takes_part_in_the_lifecycle_of_its_silo_is_started_with_it() =>
        Assert.All(cluster.Cluster.Silos, static silo => Assert.Equal(
            ["shelf"], ((ShelfStorage)silo.ServiceProvider.GetRequiredKeyedService<IGrainStorage>("shelf")).Started));

    [Fact]
    public void A_grain_of_one_state_can_be_tested_with_a_storage_of_the_test()
    {
        Assert.Throws<InvalidOperationException>(() => new LooseGrain().Shown);
        Assert.Equal(9, new LooseGrain(new Loose { State = new Account { Balance = 9 } }).Shown);
    }

    private sealed class LooseGrain : Grain<Account>
    {
        public LooseGrain()
        {
        }

        public LooseGrain(Orleans.Core.IStorage<Account> storage)
            : base(storage)
        {
        }

        public int Shown => State.Balance;
    }

    private sealed class Loose : Orleans.Core.IStorage<Account>
    {
        public Account State { get; set; } = new();

        public string? Etag => null;

        public bool RecordExists => false;

        public Task ClearStateAsync() => Task.CompletedTask;

        public Task ReadStateAsync() => Task.CompletedTask;

        public Task WriteStateAsync() => Task.CompletedTask;
    }
}
