using ActOp.Tests.Clusters;

namespace ActOp.Tests.Placement;

/// <summary>Which class a call through a generic interface means.</summary>
public class GenericGrainTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    [Fact]
    public async Task A_class_of_a_closed_interface_has_precedence_over_a_generic_class()
    {
        Assert.Equal("closed over int", await cluster.Client.GetGrain<IShelf<int>>("a").Name());
        Assert.Equal("open over String", await cluster.Client.GetGrain<IShelf<string>>("a").Name());
    }

    [Fact]
    public void A_class_of_a_closed_interface_does_not_stand_for_other_arguments()
    {
        cluster.Client.GetGrain<IOnlyInt<int>>("a");
        Assert.Throws<ArgumentException>(() => cluster.Client.GetGrain<IOnlyInt<string>>("a"));
    }

    [Fact]
    public async Task Classes_that_close_an_interface_differently_do_not_collide()
    {
        Assert.Equal("int float", await cluster.Client.GetGrain<IPair<int, float>>("a").Name());
        Assert.Equal("int string", await cluster.Client.GetGrain<IPair<int, string>>("a").Name());
    }

    [Fact]
    public async Task The_type_arguments_of_a_class_follow_from_their_places_in_the_interface() =>
        Assert.Equal("String Int32", await cluster.Client.GetGrain<ISwapped<int, string>>("a").Name());

    [Fact]
    public async Task The_type_arguments_stand_in_brackets_of_their_own_in_a_grain_type_and_the_earlier_form_is_read()
    {
        var grain = cluster.Client.GetGrain<ISwapped<int[], Dictionary<string, int>>>("names");
        var type = grain.GetGrainId().Type.ToString()!;
        Assert.EndsWith("`2[[System.Collections.Generic.Dictionary`2<System.String,System.Int32>],[System.Int32[]]]", type);
        Assert.Equal("Dictionary`2 Int32[]", await grain.Name());
        var earlier = GrainId.Create(type.Replace("],[", ",", StringComparison.Ordinal), "earlier");
        Assert.Equal("Dictionary`2 Int32[]", await cluster.Client.GetGrain<ISwapped<int[], Dictionary<string, int>>>(earlier).Name());
        foreach (var wrong in new[]
        {
            "[[System.Int32],[", "[[System.Int32]", "[[System.Int32],,[System.Int32]]",
            "[[System.Int32],[no.such.type]]", "[[System.Int32]x[System.Int32]]",
        })
        {
            var id = GrainId.Create(type[..type.IndexOf("[[", StringComparison.Ordinal)] + wrong, "wrong");
            await Assert.ThrowsAnyAsync<Exception>(() => cluster.Client.GetGrain<ISwapped<int, int>>(id).Name());
        }
    }

    [Fact]
    public async Task A_client_gets_a_reference_to_a_grain_id_without_its_class()
    {
        var id = cluster.Client.GetGrain<IShelf<int>>("by id").GetGrainId();
        var reference = cluster.Client.GetGrain(id);
        Assert.Equal("closed over int", await reference.AsReference<IShelf<int>>().Name());
        Assert.Equal("closed over int", await cluster.Client.GetGrain<IShelf<int>>(id).Name());
        var swapped = cluster.Client.GetGrain(cluster.Client.GetGrain<ISwapped<int, string>>("by id").GetGrainId());
        Assert.Equal("String Int32", await ((ISwapped<int, string>)swapped).Name());
    }

    public interface IShelf<T> : IGrainWithStringKey
    {
        Task<string> Name();
    }

    public interface IOnlyInt<T> : IGrainWithStringKey;

    public interface IPair<TFirst, TSecond> : IGrainWithStringKey
    {
        Task<string> Name();
    }

    public interface ISwapped<TFirst, TSecond> : IGrainWithStringKey
    {
        Task<string> Name();
    }

    public sealed class IntShelfGrain : Grain, IShelf<int>
    {
        public Task<string> Name() => Task.FromResult("closed over int");
    }

    public sealed class ShelfGrain<T> : Grain, IShelf<T>
    {
        public Task<string> Name() => Task.FromResult("open over " + typeof(T).Name);
    }

    public sealed class OnlyIntGrain : Grain, IOnlyInt<int>;

    public sealed class IntFloatGrain : Grain, IPair<int, float>
    {
        public Task<string> Name() => Task.FromResult("int float");
    }

    public sealed class IntStringGrain : Grain, IPair<int, string>
    {
        public Task<string> Name() => Task.FromResult("int string");
    }

    public sealed class SwappedGrain<TA, TB> : Grain, ISwapped<TB, TA>
    {
        public Task<string> Name() => Task.FromResult(typeof(TA).Name + " " + typeof(TB).Name);
    }
}
