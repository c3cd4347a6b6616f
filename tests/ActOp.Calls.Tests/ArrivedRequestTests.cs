using ActOp.Foundation;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

/// <summary>Requests from the wire find their activations by the bytes of the grain's id, and keep their order.</summary>
public class ArrivedRequestTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    private Node There => cluster.Cluster.Silos[1].ServiceProvider.GetRequiredService<Node>();

    [Fact]
    public async Task Grains_whose_ids_have_the_same_place_answer_each_for_itself()
    {
        var grains = await Colliding(4);
        for (var round = 0; round < 3; round++)
        {
            foreach (var grain in grains)
                Assert.Equal(grain.GetGrainId(), await grain.Add(0).WaitAsync(Gate.Patience));
        }
    }

    [Fact]
    public async Task A_grain_that_was_called_is_found_by_the_bytes_of_its_id()
    {
        var grain = (await Colliding(1))[0];
        await grain.Add(0).WaitAsync(Gate.Patience);
        var id = grain.GetGrainId();
        var (hash, type, key) = (id.GetUniformHashCode(), id.Type.ToString()!, id.Key.ToString()!);
        Assert.Equal(id, Find(hash, type, key));
        Assert.Null(Find(hash, type, key + "1"));
        Assert.Null(Find(hash, type + "1", key));
        Assert.Null(Find(hash, type + key[..1], key[1..]));
        Assert.Null(Find(hash + 1, type, key));
    }

    [Fact]
    public async Task An_activation_that_has_ended_is_not_found_and_the_next_call_begins_another()
    {
        var grain = (await Colliding(1))[0];
        await grain.Add(1).WaitAsync(Gate.Patience);
        Assert.Single(await grain.Numbers());
        var id = grain.GetGrainId();
        Assert.True(There.Activations.TryGet(id, out var activation));
        Assert.NotNull(Find(id.GetUniformHashCode(), id.Type.ToString()!, id.Key.ToString()!));

        activation.Deactivate(new DeactivationReason(DeactivationReasonCode.ApplicationRequested, "test"));
        await activation.Deactivated.WaitAsync(Gate.Patience);

        Assert.Null(Find(id.GetUniformHashCode(), id.Type.ToString()!, id.Key.ToString()!));
        Assert.Empty(await grain.Numbers().WaitAsync(Gate.Patience));
    }

    /// <summary>More than is read at a time, so that reading and running take turns.</summary>
    [Fact]
    public async Task Calls_of_one_caller_to_one_grain_run_in_the_order_in_which_they_were_made()
    {
        const int Calls = 3000;
        var grains = await Colliding(2);
        var calls = new List<Task>();
        for (var number = 0; number < Calls; number++)
            calls.Add(grains[number % 2].Add(number));
        await Task.WhenAll(calls).WaitAsync(Gate.Patience);
        for (var which = 0; which < 2; which++)
            Assert.Equal(Enumerable.Range(0, Calls).Where(number => number % 2 == which), await grains[which].Numbers());
    }

    [Fact]
    public async Task Filters_see_who_has_called_from_another_silo()
    {
        var caller = cluster.Client.GetGrain<IArrival>(Guid.NewGuid().ToString());
        await Place.On(cluster.AddressOf(0), () => caller.Add(0));
        var callee = (await Colliding(1))[0];
        Assert.Equal(caller.GetGrainId(), await caller.AskWhoAsks(callee).WaitAsync(Gate.Patience));
    }

    [Fact]
    public async Task Filters_see_the_client_or_the_silo_whose_code_has_called()
    {
        var callee = (await Colliding(1))[0];
        var client = cluster.Client.ServiceProvider.GetRequiredService<Node>();
        Assert.Equal(SystemGrainIds.Client(client.Address), await callee.WhoAsks());
        for (var silo = 0; silo < 2; silo++)
        {
            var same = cluster.ClientOf(silo).GetGrain<IArrival>(callee.GetPrimaryKeyString());
            Assert.Equal(SystemGrainIds.Client(cluster.AddressOf(silo)), await same.WhoAsks());
        }
    }

    private GrainId? Find(uint hash, string type, string key) =>
        There.Activations.FindRecent(hash, System.Text.Encoding.UTF8.GetBytes(type), System.Text.Encoding.UTF8.GetBytes(key))?.GrainId;

    /// <summary>Grains of the second silo; the remainders of the hashes of their ids are the same.</summary>
    private async Task<List<IArrival>> Colliding(int count)
    {
        var grains = new List<IArrival>();
        var prefix = Guid.NewGuid().ToString("N");
        uint? place = null;
        for (var number = 0; grains.Count < count; number++)
        {
            var grain = cluster.Client.GetGrain<IArrival>(prefix + number);
            var remainder = grain.GetGrainId().GetUniformHashCode() % (1 << 14);
            if (remainder != (place ??= remainder))
                continue;
            await Place.On(cluster.AddressOf(1), () => grain.Numbers());
            grains.Add(grain);
        }

        return grains;
    }

    public interface IArrival : IGrainWithStringKey
    {
        Task<GrainId> Add(int number);

        Task<int[]> Numbers();

        Task<GrainId?> AskWhoAsks(IArrival callee);

        Task<GrainId?> WhoAsks();
    }

    public sealed class ArrivalGrain : Grain, IArrival, IIncomingGrainCallFilter
    {
        private readonly List<int> _numbers = [];
        private GrainId? _source;

        public Task<GrainId> Add(int number)
        {
            _numbers.Add(number);
            return Task.FromResult(this.GetGrainId());
        }

        public Task<int[]> Numbers() => Task.FromResult(_numbers.ToArray());

        public Task<GrainId?> AskWhoAsks(IArrival callee) => callee.WhoAsks();

        public Task<GrainId?> WhoAsks() => Task.FromResult(_source);

        public Task Invoke(IIncomingGrainCallContext context)
        {
            _source = context.SourceId;
            return context.Invoke();
        }
    }
}
