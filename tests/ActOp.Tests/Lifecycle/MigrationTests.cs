using ActOp.Runtime.Activations;
using ActOp.Runtime.Locality;
using ActOp.Tests.Clusters;

namespace ActOp.Tests.Lifecycle;

public class MigrationTests(TwoSilos cluster) : IClassFixture<TwoSilos>
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
    public async Task A_busy_grain_is_not_moved_by_the_runtime_and_serves_on()
    {
        using var gate = new Gate();
        var player = cluster.Client.GetGrain<INomad>(Guid.NewGuid());
        var game = cluster.Client.GetGrain<INomad>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), player.Seat);
        var chain = player.Play(game, gate.Name);
        await gate.ArrivedAsync();
        Assert.True(cluster.Cluster.TryGetGrainContext(player.GetGrainId(), out var context));
        var request = new MigrationRequest(cluster.AddressOf(1));
        ((Activation)context!).TryMigrate(request);
        Assert.Equal(MigrationOutcome.Busy, await request.Outcome.WaitAsync(Gate.Patience));
        gate.Open();
        Assert.Equal(1, await chain.WaitAsync(Gate.Patience));
        var again = new MigrationRequest(cluster.AddressOf(1));
        await TestingUtils.WaitUntilAsync(
            async _ =>
            {
                // The answer of the chain is sent before the turn that sends it has ended.
                again = new MigrationRequest(cluster.AddressOf(1));
                ((Activation)context).TryMigrate(again);
                return await again.Outcome.WaitAsync(Gate.Patience) == MigrationOutcome.Moved;
            },
            Gate.Patience,
            TimeSpan.FromMilliseconds(1));
        Assert.Equal(cluster.AddressOf(1), await player.Seat());
        Assert.Equal(2, await player.Count());
    }

    public interface INomad : IGrainWithGuidKey
    {
        Task<SiloAddress> Seat();

        Task<int> Count();

        Task Leave();

        Task<string> LastReason();

        Task<int> Play(INomad game, string gate);

        Task<int> Score(INomad player, string gate);
    }

    public sealed class NomadGrain(ILocalSiloDetails silo) : Grain, INomad, IGrainMigrationParticipant
    {
        private int _count;
        private string _reason = "";

        public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
        {
            _reason = reason.ReasonCode.ToString();
            return Task.CompletedTask;
        }

        public void OnDehydrate(IDehydrationContext dehydrationContext)
        {
            Assert.True(dehydrationContext.TryAddValue("count", _count));
            dehydrationContext.AddBytes("reason", System.Text.Encoding.UTF8.GetBytes(_reason));
        }

        public void OnRehydrate(IRehydrationContext rehydrationContext)
        {
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
    }
}
