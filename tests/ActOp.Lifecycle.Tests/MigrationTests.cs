using ActOp.Configuration;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;

namespace ActOp.Lifecycle.Tests;

public class MigrationTests(MigrationTests.WithoutRounds cluster) : IClassFixture<MigrationTests.WithoutRounds>
{
    [Fact]
    public async Task A_grain_takes_its_state_along()
    {
        var grain = cluster.Client.GetGrain<INomad>(Guid.NewGuid());
        Assert.Equal(cluster.AddressOf(0), await Place.On(cluster.AddressOf(0), grain.Seat));
        for (var count = 1; count <= 3; count++)
            Assert.Equal(count, await grain.Count());
        await Place.On(cluster.AddressOf(1), grain.Leave);
        Assert.Equal(4, await grain.Count());
        Assert.Equal(cluster.AddressOf(1), await grain.Seat());
        Assert.Equal("Migrating", await grain.LastReason());
    }

    [Fact]
    public async Task A_move_to_where_the_grain_is_does_nothing()
    {
        var grain = cluster.Client.GetGrain<INomad>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), grain.Seat);
        await grain.Count();
        await Place.On(cluster.AddressOf(0), grain.Leave);
        Assert.Equal(2, await grain.Count());
        Assert.Equal("", await grain.LastReason());
    }

    [Fact]
    public async Task No_call_is_lost_or_run_twice_while_a_grain_moves_to_and_fro()
    {
        var key = Guid.NewGuid();
        var grain = cluster.Client.GetGrain<INomad>(key);
        await Place.On(cluster.AddressOf(0), grain.Seat);
        var results = new List<int>[3];
        var clients = new[] { cluster.Client, cluster.ClientOf(0), cluster.ClientOf(1) };
        var callers = clients.Select((client, index) => Task.Run(async () =>
        {
            var mine = results[index] = [];
            for (var call = 0; call < 300; call++)
                mine.Add(await client.GetGrain<INomad>(key).Count());
        })).ToArray();
        for (var move = 1; move <= 10; move++)
            await cluster.Cluster.MigrateAsync(grain, cluster.AddressOf(move % 2));
        await Task.WhenAll(callers).WaitAsync(Gate.Patience);
        Assert.Equal(Enumerable.Range(1, 900), results.SelectMany(list => list).Order());
    }

    [Fact]
    public async Task A_chain_that_comes_back_to_a_grain_that_is_to_move_ends_and_then_the_grain_moves()
    {
        using var gate = new Gate();
        var player = cluster.Client.GetGrain<INomad>(Guid.NewGuid());
        var game = cluster.Client.GetGrain<INomad>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), player.Seat);
        await Place.On(cluster.AddressOf(1), game.Seat);
        var chain = player.Play(game, gate.Name);
        await gate.ArrivedAsync();
        var moving = cluster.Cluster.MigrateAsync(player, cluster.AddressOf(1));
        var late = cluster.Client.GetGrain<INomad>(player.GetPrimaryKey()).Count();
        gate.Open();
        Assert.Equal(1, await chain.WaitAsync(Gate.Patience));
        await moving.WaitAsync(Gate.Patience);
        Assert.Equal(2, await late.WaitAsync(Gate.Patience));
        Assert.Equal(cluster.AddressOf(1), await player.Seat());
    }

    [Fact]
    public async Task The_runtime_moves_a_busy_grain_only_when_it_has_come_to_rest_and_it_serves_until_then()
    {
        using var gate = new Gate();
        var player = cluster.Client.GetGrain<INomad>(Guid.NewGuid());
        var (chain, request) = await WishToMoveWhileItRunsAsync(player, gate);
        gate.Open();
        Assert.Equal(1, await chain.WaitAsync(Gate.Patience));
        Assert.Equal(MigrationOutcome.Moved, await request.Outcome.WaitAsync(Gate.Patience));
        Assert.Equal(cluster.AddressOf(1), await player.Seat());
        Assert.Equal(2, await player.Count());
    }

    [Fact]
    public async Task A_wish_to_move_a_busy_grain_can_be_taken_back()
    {
        using var gate = new Gate();
        var player = cluster.Client.GetGrain<INomad>(Guid.NewGuid());
        var (chain, request) = await WishToMoveWhileItRunsAsync(player, gate);
        ActivationOf(player).GiveUpMigration(request);
        Assert.Equal(MigrationOutcome.Busy, await request.Outcome.WaitAsync(Gate.Patience));
        gate.Open();
        Assert.Equal(1, await chain.WaitAsync(Gate.Patience));
        Assert.Equal(cluster.AddressOf(0), await player.Seat());
    }

    [Fact]
    public async Task The_runtime_does_not_move_a_grain_that_is_enumerated_also_if_the_wish_came_before_the_enumeration()
    {
        using var gate = new Gate();
        var player = cluster.Client.GetGrain<INomad>(Guid.NewGuid());
        var (chain, request) = await WishToMoveWhileItRunsAsync(player, gate);
        await using (var items = player.Numbers().WithBatchSize(1).GetAsyncEnumerator())
        {
            Assert.True(await items.MoveNextAsync());
            gate.Open();
            Assert.Equal(1, await chain.WaitAsync(Gate.Patience));
            Assert.Equal(MigrationOutcome.Busy, await request.Outcome.WaitAsync(Gate.Patience));
            Assert.True(await items.MoveNextAsync());
            Assert.Equal(MigrationOutcome.Busy, await MoveAsync(player, cluster.AddressOf(1)));
            Assert.True(await items.MoveNextAsync());
            Assert.Equal(2, items.Current);
        }

        Assert.Equal(MigrationOutcome.Moved, await MoveAsync(player, cluster.AddressOf(1)));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_grain_that_is_ending_may_still_move(bool late)
    {
        var grain = cluster.Client.GetGrain<INomad>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), grain.Seat);
        Assert.Equal(1, await grain.Count());
        await grain.EndAndMove(cluster.AddressOf(1), late);
        Assert.Equal(2, await grain.Count());
        Assert.Equal(cluster.AddressOf(1), await grain.Seat());
    }

    [Fact]
    public async Task A_grain_that_asks_to_end_and_to_move_in_one_request_moves()
    {
        var grain = cluster.Client.GetGrain<INomad>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), grain.Seat);
        Assert.Equal(1, await grain.Count());
        await Place.On(cluster.AddressOf(1), grain.EndAndLeave);
        Assert.Equal(2, await grain.Count());
        Assert.Equal(cluster.AddressOf(1), await grain.Seat());
    }

    [Fact]
    public async Task Both_ends_of_a_move_see_the_request_context_of_whoever_asked_for_it()
    {
        var grain = cluster.Client.GetGrain<INomad>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), grain.Seat);
        Assert.Equal((null, null), await grain.Words());
        RequestContext.Set("word", "farewell");
        await Place.On(cluster.AddressOf(1), grain.Leave);
        RequestContext.Remove("word");
        Assert.Equal(("farewell", "farewell"), await grain.Words());
        Assert.Equal(cluster.AddressOf(1), await grain.Seat());
    }

    [Fact]
    public async Task A_grain_whose_target_does_not_take_it_goes_on_where_it_was_with_its_state()
    {
        var grain = cluster.Client.GetGrain<INomad>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), grain.Seat);
        Assert.Equal(1, await grain.Count());
        Assert.Equal(MigrationOutcome.Failed, await MoveAsync(grain, SiloAddress.New(System.Net.IPAddress.Loopback, 1, 1)));
        Assert.Equal(2, await grain.Count());
        Assert.Equal(cluster.AddressOf(0), await grain.Seat());
        Assert.Equal(MigrationOutcome.Moved, await MoveAsync(grain, cluster.AddressOf(1)));
        Assert.Equal(3, await grain.Count());
        Assert.Equal(cluster.AddressOf(1), await grain.Seat());
    }

    /// <summary>A message may be slow; by the time it comes, the grain may have lived on elsewhere, and ended.</summary>
    [Fact]
    public async Task State_that_comes_when_the_grain_has_ended_since_is_refused()
    {
        var grain = cluster.Client.GetGrain<INomad>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), grain.Seat);
        Assert.Equal(1, await grain.Count());
        var previous = new Registration(grain.GetGrainId(), ActivationOf(grain).Location);
        await cluster.Cluster.DeactivateAsync(grain);
        var target = cluster.Cluster.Silos[1].ServiceProvider.GetRequiredService<Node>();
        var location = await target.Migrations.Accept(previous, []).AsTask().WaitAsync(Gate.Patience);
        Assert.True(location.IsNone);
        Assert.Equal(1, await grain.Count().WaitAsync(Gate.Patience));
    }

    /// <summary>A request of the grain has arrived at the gate, and then the runtime has wished to move the grain to the other silo.</summary>
    private async Task<(Task<int> Chain, MigrationRequest Request)> WishToMoveWhileItRunsAsync(INomad player, Gate gate)
    {
        await Place.On(cluster.AddressOf(0), player.Seat);
        var chain = player.Play(cluster.Client.GetGrain<INomad>(Guid.NewGuid()), gate.Name);
        await gate.ArrivedAsync();
        var request = new MigrationRequest(cluster.AddressOf(1));
        ActivationOf(player).TryMigrate(request);
        return (chain, request);
    }

    private async Task<MigrationOutcome> MoveAsync(INomad grain, SiloAddress target)
    {
        var request = new MigrationRequest(target);
        ActivationOf(grain).TryMigrate(request);
        return await request.Outcome.WaitAsync(Gate.Patience);
    }

    private Activation ActivationOf(INomad grain)
    {
        Assert.True(cluster.Cluster.TryGetGrainContext(grain.GetGrainId(), out var context));
        return (Activation)context!;
    }

    /// <summary>Two silos that move no grain on their own, which they would after a second for a few messages.</summary>
    public sealed class WithoutRounds() : ClusterFixture(2)
    {
        protected override void ConfigureSilo(ISiloBuilder silo) => silo.Configure<LocalityOptions>(
            static options => options.MinRoundPeriod = options.MaxRoundPeriod = TimeSpan.FromHours(1));
    }

    public interface INomad : IGrainWithGuidKey
    {
        Task<SiloAddress> Seat();

        Task<int> Count();

        Task Leave();

        Task EndAndMove(SiloAddress target, bool late);

        Task EndAndLeave();

        Task<(string? Left, string? Arrived)> Words();

        Task<string> LastReason();

        Task<int> Play(INomad game, string gate);

        Task<int> Score(INomad player, string gate);

        /// <summary>0, 1, 2 and so on, without end.</summary>
        IAsyncEnumerable<int> Numbers();
    }

    public sealed class NomadGrain(ILocalSiloDetails silo) : Grain, INomad, IGrainMigrationParticipant
    {
        private int _count;
        private string _reason = "";
        private string? _left;
        private string? _arrived;
        private SiloAddress? _target;
        private bool _late;

        public override async Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
        {
            _reason = reason.ReasonCode.ToString();
            if (_target is null)
                return;
            if (_late)
                await Task.Yield();
            RequestContext.Set(Orleans.Runtime.Placement.IPlacementDirector.PlacementHintKey, _target);
            MigrateOnIdle();
        }

        public void OnDehydrate(IDehydrationContext dehydrationContext)
        {
            Assert.True(dehydrationContext.TryAddValue("left", RequestContext.Get("word") as string));
            Assert.True(dehydrationContext.TryAddValue("count", _count));
            dehydrationContext.AddBytes("reason", System.Text.Encoding.UTF8.GetBytes(_reason));
        }

        public void OnRehydrate(IRehydrationContext rehydrationContext)
        {
            _arrived = RequestContext.Get("word") as string;
            Assert.True(rehydrationContext.TryGetValue("left", out _left));
            Assert.True(rehydrationContext.TryGetValue("count", out _count));
            Assert.True(rehydrationContext.TryGetBytes("reason", out var reason));
            _reason = System.Text.Encoding.UTF8.GetString(System.Buffers.BuffersExtensions.ToArray(reason));
        }

        public Task<SiloAddress> Seat() => Task.FromResult(silo.SiloAddress);

        public Task<int> Count() => Task.FromResult(++_count);

        public Task Leave()
        {
            MigrateOnIdle();
            return Task.CompletedTask;
        }

        public Task EndAndMove(SiloAddress target, bool late)
        {
            _target = target;
            _late = late;
            DeactivateOnIdle();
            return Task.CompletedTask;
        }

        public Task EndAndLeave()
        {
            DeactivateOnIdle();
            MigrateOnIdle();
            return Task.CompletedTask;
        }

        public Task<(string? Left, string? Arrived)> Words() => Task.FromResult((_left, _arrived));

        public Task<string> LastReason() => Task.FromResult(_reason);

        public async Task<int> Play(INomad game, string gate)
        {
            using var section = RequestContext.AllowCallChainReentrancy();
            return await game.Score(this.AsReference<INomad>(), gate);
        }

        public async Task<int> Score(INomad player, string gate)
        {
            await Gate.PassAsync(gate);
            return await player.Count();
        }

        public async IAsyncEnumerable<int> Numbers()
        {
            await Task.CompletedTask;
            for (var number = 0; ; number++)
                yield return number;
        }
    }
}
