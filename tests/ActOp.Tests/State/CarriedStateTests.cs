using ActOp.Runtime.Activations;
using ActOp.Tests.Clusters;

namespace ActOp.Tests.State;

/// <summary>What a grain with persistent state takes along, and which of them locality may move.</summary>
public class CarriedStateTests(StateCluster cluster) : IClassFixture<StateCluster>
{
    [Fact]
    public async Task A_state_moves_with_its_version_and_with_what_was_not_written_and_is_not_read_again()
    {
        var grain = cluster.Client.GetGrain<IKeeper>(Guid.NewGuid());
        await Clusters.Place.On(cluster.AddressOf(0), () => grain.Set(1));
        await grain.Write();
        await grain.Set(2);
        await Clusters.Place.On(cluster.AddressOf(1), grain.Leave);
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
        await Clusters.Place.On(cluster.AddressOf(0), () => grain.Add(3));
        var life = await grain.Life();
        await Clusters.Place.On(cluster.AddressOf(1), grain.Leave);
        Assert.Equal(7, await grain.Add(4));
        Assert.NotEqual(life, await grain.Life());
        Assert.Equal(["read state", "write state", "write state"], ShelfStorage.Journal(grain.GetGrainId()));
    }

    [Fact]
    public async Task A_state_whose_type_is_not_serializable_is_read_on_the_next_silo()
    {
        var grain = cluster.Client.GetGrain<IStiffCarrier>(Guid.NewGuid());
        await Clusters.Place.On(cluster.AddressOf(0), () => grain.Set(1));
        await Clusters.Place.On(cluster.AddressOf(1), grain.Leave);
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

    private async Task<bool> MayMove(IGrain grain)
    {
        await (grain is ICarrier carrier ? carrier.Get() : ((ILedger)grain).Total());
        Assert.True(cluster.Cluster.TryGetGrainContext(grain.GetGrainId(), out var context));
        var activation = (Activation)context!;
        return activation.Parts.Locality.MayMove(activation);
    }
}
