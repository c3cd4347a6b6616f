using ActOp.Runtime.Activations;
using ActOp.TestClusters;

namespace ActOp.State.Tests;

/// <summary>What a grain with persistent state takes along, and which of them locality may move.</summary>
public class CarriedStateTests(StateCluster cluster) : IClassFixture<StateCluster>
{
    [Fact]
    public async Task A_state_moves_with_its_version_and_with_what_was_not_written_and_is_not_read_again()
    {
        var grain = cluster.Client.GetGrain<IKeeper>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), () => grain.Set(1));
        await grain.Write();
        await grain.Set(2);
        await Place.On(cluster.AddressOf(1), grain.Leave);
        Assert.Equal(cluster.AddressOf(1), await grain.Place());
        Assert.Equal((2, ("1", true, 0)), (await grain.Balance(), await grain.Version()));
        await grain.Write();
        Assert.Equal(("2", true, 0), await grain.Version());
        Assert.Equal(
            ["read account", "write account", "write account"], ShelfStorage.Journal(grain.GetGrainId()));
    }

    [Fact]
    public async Task The_state_of_a_grain_with_one_state_moves_too()
    {
        var grain = cluster.Client.GetGrain<ILedger>(Guid.NewGuid().ToString(), typeof(LedgerGrain).FullName);
        await Place.On(cluster.AddressOf(0), () => grain.Add(3));
        var life = await grain.Life();
        await Place.On(cluster.AddressOf(1), grain.Leave);
        Assert.Equal(7, await grain.Add(4));
        Assert.NotEqual(life, await grain.Life());
        Assert.Equal(["read state", "write state", "write state"], ShelfStorage.Journal(grain.GetGrainId()));
    }

    [Fact]
    public async Task A_state_whose_type_is_not_serializable_is_read_on_the_next_silo()
    {
        var grain = cluster.Client.GetGrain<IStiffCarrier>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), () => grain.Set(1));
        await Place.On(cluster.AddressOf(1), grain.Leave);
        Assert.Equal(0, await grain.Get());
        Assert.Equal(["read n", "read n"], ShelfStorage.Journal(grain.GetGrainId()));
    }

    [Fact]
    public async Task Locality_moves_grains_whose_only_state_is_persistent_and_carried()
    {
        Assert.True(await MayMove(cluster.Client.GetGrain<ICarrier>(Guid.NewGuid(), typeof(CarrierGrain).FullName)));
        Assert.True(await MayMove(cluster.Client.GetGrain<ILedger>(Guid.NewGuid().ToString(), typeof(LedgerGrain).FullName)));
        Assert.False(await MayMove(cluster.Client.GetGrain<IHeavyCarrier>(Guid.NewGuid())));
        Assert.False(await MayMove(cluster.Client.GetGrain<IStiffCarrier>(Guid.NewGuid())));
    }

    [Theory]
    [InlineData("write", ShelfFault.LostAnswer)]
    [InlineData("write", ShelfFault.OtherException)]
    [InlineData("clear", ShelfFault.LostAnswer)]
    public async Task A_state_whose_last_change_has_an_unknown_outcome_is_read_on_the_next_silo(string operation, ShelfFault fault)
    {
        var grain = cluster.Client.GetGrain<IKeeper>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), () => grain.Set(1));
        await grain.Write();
        await grain.Set(2);
        ShelfStorage.Fail(grain.GetGrainId(), operation, fault);
        await Assert.ThrowsAsync<OrleansException>(operation == "write" ? grain.Write : grain.Clear);
        await Place.On(cluster.AddressOf(1), grain.Leave);
        Assert.Equal(cluster.AddressOf(1), await grain.Place());
        Assert.Equal(operation == "clear" ? 0 : fault == ShelfFault.LostAnswer ? 2 : 1, await grain.Balance());
        await grain.Set(3);
        await grain.Write();
    }

    [Fact]
    public async Task A_state_in_doubt_goes_along_if_its_storage_tells_so_in_the_ETag()
    {
        var grain = cluster.Client.GetGrain<IDoubtfulCarrier>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), () => grain.Set(1));
        ShelfStorage.Fail(grain.GetGrainId(), "write", ShelfFault.OtherException);
        await Assert.ThrowsAsync<OrleansException>(grain.Write);
        await Place.On(cluster.AddressOf(1), grain.Leave);
        Assert.Equal(1, await grain.Get());
        Assert.Equal(["read n", "write n"], ShelfStorage.Journal(grain.GetGrainId()));
    }

    [Fact]
    public async Task The_runtime_does_not_move_a_grain_whose_state_is_in_doubt_until_an_operation_succeeds()
    {
        var grain = cluster.Client.GetGrain<ICarrier>(Guid.NewGuid(), typeof(CarrierGrain).FullName);
        await Place.On(cluster.AddressOf(0), () => grain.Set(1));
        ShelfStorage.Fail(grain.GetGrainId(), "write", ShelfFault.OtherException);
        await Assert.ThrowsAsync<OrleansException>(grain.Write);
        Assert.Equal(MigrationOutcome.Busy, await MoveAsync(grain));
        await grain.Write();
        Assert.Equal(MigrationOutcome.Moved, await MoveAsync(grain));
    }

    [Fact]
    public async Task A_move_that_waits_for_a_request_is_given_up_if_that_leaves_a_state_in_doubt()
    {
        var grain = cluster.Client.GetGrain<ICarrier>(Guid.NewGuid(), typeof(CarrierGrain).FullName);
        await Place.On(cluster.AddressOf(0), () => grain.Set(1));
        using var gate = new Gate();
        ShelfStorage.Stop(grain.GetGrainId(), gate);
        ShelfStorage.Fail(grain.GetGrainId(), "write", ShelfFault.OtherException);
        var written = grain.Write();
        await gate.ArrivedAsync();
        var moved = MoveAsync(grain);
        gate.Open();
        await Assert.ThrowsAsync<OrleansException>(() => written);
        Assert.Equal(MigrationOutcome.Busy, await moved);
        Assert.Equal(1, await grain.Get());
    }

    private Task<MigrationOutcome> MoveAsync(IGrain grain)
    {
        Assert.True(cluster.Cluster.TryGetGrainContext(grain.GetGrainId(), out var context));
        var request = new MigrationRequest(cluster.AddressOf(1));
        ((Activation)context!).TryMigrate(request);
        return request.Outcome.WaitAsync(Gate.Patience);
    }

    private async Task<bool> MayMove(IGrain grain)
    {
        await (grain is ICarrier carrier ? carrier.Get() : ((ILedger)grain).Total());
        Assert.True(cluster.Cluster.TryGetGrainContext(grain.GetGrainId(), out var context));
        var activation = (Activation)context!;
        return activation.Parts.Locality.MayMove(activation);
    }
}
