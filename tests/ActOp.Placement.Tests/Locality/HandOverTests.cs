using System.Net;
using ActOp.Configuration;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;

namespace ActOp.Placement.Tests.Locality;

/// <summary>A grain that moves begins on its target only when its source has released it, so it never runs on both.</summary>
public sealed class HandOverTests(HandOverTests.WithoutRounds cluster) : IClassFixture<HandOverTests.WithoutRounds>
{
    private static readonly SiloAddress Target = SiloAddress.New(IPAddress.Loopback, 1, 1);

    /// <summary>As a target that is cut off from its source: the source has taken the state back, or has never sent it.</summary>
    [Fact]
    public async Task A_state_that_its_source_has_not_released_begins_nowhere_else()
    {
        var grain = cluster.Client.GetGrain<ISuitcase>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), grain.Seat);
        Assert.Equal(1, await grain.Count());
        var registered = ActivationOf(grain).Location;
        var previous = new Registration(grain.GetGrainId(), registered);
        var values = new Dictionary<string, byte[]> { ["\0next"] = Guid.NewGuid().ToByteArray() };
        var location = await NodeOf(1).Migrations.Accept(previous, values).AsTask().WaitAsync(Gate.Patience);
        Assert.True(location.IsNone);
        Assert.Equal((2, cluster.AddressOf(0)), (await grain.Count(), await grain.Seat()));
        // What it has registered before it asked is given back when it ends.
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(!NodeOf(1).Activations.TryGet(grain.GetGrainId(), out var _)), Gate.Patience);
        var found = await NodeOf(1).Directory.LookupAsync(grain.GetGrainId());
        Assert.Equal(registered.Activation, found.Activation);
    }

    [Fact]
    public async Task No_question_is_open_after_a_move_or_its_failure()
    {
        var grain = cluster.Client.GetGrain<ISuitcase>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), grain.Seat);
        Assert.Equal(1, await grain.Count());
        Assert.Equal(MigrationOutcome.Failed, await MoveAsync(grain, Target));
        Assert.Equal(2, await grain.Count());
        Assert.Equal(MigrationOutcome.Moved, await MoveAsync(grain, cluster.AddressOf(1)));
        Assert.Equal((3, cluster.AddressOf(1)), (await grain.Count(), await grain.Seat()));
        Assert.Equal((0, 0), (NodeOf(0).Migrations.Undecided, NodeOf(1).Migrations.Undecided));
    }

    [Fact]
    public async Task The_state_is_the_targets_or_the_sources_and_the_first_decision_stays()
    {
        var leaving = await StartAsync();
        var next = new Location(Target, ActivationId.NewId(), 1);
        var released = new HandOver(leaving, Target, next.Activation);
        Assert.True(released.TryRelease(next, static _ => false));
        Assert.False(released.TryTakeBack());
        Assert.True(released.TryRelease(next, static _ => false));
        Assert.Equal(next, released.ReleasedTo);
        leaving.Registered = true;
        var takenBack = new HandOver(leaving, Target, next.Activation);
        Assert.True(takenBack.TryTakeBack());
        Assert.False(takenBack.TryRelease(next, static _ => false));
        Assert.True(takenBack.ReleasedTo.IsNone);
        Assert.True(leaving.Registered);
    }

    /// <summary>Otherwise a slot that is rebuilt would name the source, while the target goes on until its lease ends.</summary>
    [Fact]
    public async Task A_source_that_has_released_the_state_reports_nothing_to_a_slot_that_is_rebuilt()
    {
        var leaving = await StartAsync();
        var next = new Location(Target, ActivationId.NewId(), 1);
        Assert.True(new HandOver(leaving, Target, next.Activation).TryRelease(next, static _ => false));
        Assert.True(leaving.RegisteredAs.IsNone);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task A_target_that_is_dead_in_the_view_of_its_source_is_refused(int looks)
    {
        var leaving = await StartAsync();
        var next = new Location(Target, ActivationId.NewId(), 1);
        var handOver = new HandOver(leaving, Target, next.Activation);
        // The view may come between the decision and the look at it.
        Assert.False(handOver.TryRelease(next, _ => --looks == 0));
        Assert.False(leaving.RegisteredAs.IsNone);
        Assert.True(handOver.TryTakeBack());
    }

    private async Task<Activation> StartAsync()
    {
        var grain = cluster.Client.GetGrain<ISuitcase>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), grain.Seat);
        return ActivationOf(grain);
    }

    private async Task<MigrationOutcome> MoveAsync(ISuitcase grain, SiloAddress target)
    {
        var request = new MigrationRequest(target);
        ActivationOf(grain).TryMigrate(request);
        return await request.Outcome.WaitAsync(Gate.Patience);
    }

    private Node NodeOf(int silo) => cluster.Cluster.Silos[silo].ServiceProvider.GetRequiredService<Node>();

    private Activation ActivationOf(ISuitcase grain)
    {
        Assert.True(cluster.Cluster.TryGetGrainContext(grain.GetGrainId(), out var context));
        return (Activation)context!;
    }

    /// <summary>Two silos that move no grain on their own.</summary>
    public sealed class WithoutRounds() : ClusterFixture(2)
    {
        protected override void ConfigureSilo(ISiloBuilder silo) => silo.Configure<LocalityOptions>(
            static options => options.MinRoundPeriod = options.MaxRoundPeriod = TimeSpan.FromHours(1));
    }

    public interface ISuitcase : IGrainWithGuidKey
    {
        Task<SiloAddress> Seat();

        Task<int> Count();
    }

    public sealed class SuitcaseGrain(ILocalSiloDetails silo) : Grain, ISuitcase, IGrainMigrationParticipant
    {
        private int _count;

        public void OnDehydrate(IDehydrationContext dehydrationContext) =>
            Assert.True(dehydrationContext.TryAddValue("count", _count));

        public void OnRehydrate(IRehydrationContext rehydrationContext) =>
            Assert.True(rehydrationContext.TryGetValue("count", out _count));

        public Task<SiloAddress> Seat() => Task.FromResult(silo.SiloAddress);

        public Task<int> Count() => Task.FromResult(++_count);
    }
}
