using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

/// <summary>What a caller and a grain hold are never the same mutable objects.</summary>
public class CopyTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task Changing_an_argument_after_the_call_does_not_reach_the_grain(int silo)
    {
        var grain = await Get(silo);
        var list = new List<string> { "a" };
        await grain.Keep(list);
        list.Add("b");
        Assert.Equal(["a"], await grain.Kept());
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task Changing_a_result_does_not_reach_the_grain(int silo)
    {
        var grain = await Get(silo);
        await grain.Keep(["a"]);
        var kept = await grain.Kept();
        kept.Add("b");
        Assert.Equal(["a"], await grain.Kept());
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task An_object_that_is_passed_twice_arrives_as_one(int silo)
    {
        var grain = await Get(silo);
        var shared = new Node { Name = "shared" };
        var pair = new Pair { First = shared, Second = shared };
        Assert.True(await grain.AreSame(pair));
        var back = await grain.Twins();
        Assert.Same(back.First, back.Second);
        Assert.True(await grain.AreSameArguments(shared, shared));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_cycle_survives(int silo)
    {
        var grain = await Get(silo);
        var node = new Node { Name = "loop" };
        node.Next = node;
        Assert.True(await grain.IsLoop(node));
    }

    [Fact]
    public async Task Immutable_arguments_are_not_copied_within_a_silo()
    {
        var grain = await Get(0);
        var bytes = new byte[] { 1, 2, 3 };
        var identity = System.Runtime.CompilerServices.RuntimeHelpers.GetHashCode(bytes);
        Assert.Equal(identity, await grain.IdentityOf(bytes));
        Assert.Equal(identity, await grain.IdentityOfWrapped(bytes.AsImmutable()));
        Assert.NotEqual(identity, await grain.IdentityOfMutable(bytes));
        var frozen = new Frozen { Name = "x" };
        Assert.Equal(System.Runtime.CompilerServices.RuntimeHelpers.GetHashCode(frozen), await grain.IdentityOfFrozen(frozen));
    }

    private async Task<IKeeper> Get(int silo)
    {
        var grain = cluster.ClientOf(0).GetGrain<IKeeper>(silo);
        Assert.Equal(cluster.AddressOf(silo), await Place.On(cluster.AddressOf(silo), grain.Seat));
        return grain;
    }

    public interface IKeeper : IGrainWithIntegerKey
    {
        Task<SiloAddress> Seat();

        Task Keep(List<string> list);

        Task<List<string>> Kept();

        Task<bool> AreSame(Pair pair);

        Task<bool> AreSameArguments(Node one, Node two);

        Task<bool> IsLoop(Node node);

        Task<Pair> Twins();

        Task<int> IdentityOf([Immutable] byte[] bytes);

        Task<int> IdentityOfWrapped(Immutable<byte[]> bytes);

        Task<int> IdentityOfMutable(byte[] bytes);

        Task<int> IdentityOfFrozen(Frozen frozen);
    }

    [GenerateSerializer]
    public sealed class Node
    {
        [Id(0)]
        public string Name { get; set; } = "";

        [Id(1)]
        public Node? Next { get; set; }
    }

    [GenerateSerializer]
    public sealed class Pair
    {
        [Id(0)]
        public Node? First { get; set; }

        [Id(1)]
        public Node? Second { get; set; }
    }

    [GenerateSerializer]
    [Immutable]
    public sealed class Frozen
    {
        [Id(0)]
        public string Name { get; init; } = "";
    }

    public sealed class KeeperGrain(ILocalSiloDetails silo) : Grain, IKeeper
    {
        private List<string> _list = [];

        public Task<SiloAddress> Seat() => Task.FromResult(silo.SiloAddress);

        public Task Keep(List<string> list)
        {
            _list = list;
            return Task.CompletedTask;
        }

        public Task<List<string>> Kept() => Task.FromResult(_list);

        public Task<bool> AreSame(Pair pair) => Task.FromResult(ReferenceEquals(pair.First, pair.Second));

        public Task<bool> AreSameArguments(Node one, Node two) => Task.FromResult(ReferenceEquals(one, two));

        public Task<bool> IsLoop(Node node) => Task.FromResult(ReferenceEquals(node, node.Next));

        public Task<Pair> Twins()
        {
            var node = new Node();
            return Task.FromResult(new Pair { First = node, Second = node });
        }

        public Task<int> IdentityOf(byte[] bytes) => Identity(bytes);

        public Task<int> IdentityOfWrapped(Immutable<byte[]> bytes) => Identity(bytes.Value);

        public Task<int> IdentityOfMutable(byte[] bytes) => Identity(bytes);

        public Task<int> IdentityOfFrozen(Frozen frozen) => Identity(frozen);

        private static Task<int> Identity(object value) =>
            Task.FromResult(System.Runtime.CompilerServices.RuntimeHelpers.GetHashCode(value));
    }
}
