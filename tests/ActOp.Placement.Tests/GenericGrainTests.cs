using ActOp.TestClusters;

namespace ActOp.Placement.Tests;

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

    [Fact]
    public async Task A_type_argument_that_the_class_does_not_permit_fails_the_call_and_is_named()
    {
        Assert.Equal("Int32", await cluster.Client.GetGrain<IConstrained<int>>("a").Name());
        var exception = await Assert.ThrowsAnyAsync<Exception>(
            () => cluster.Client.GetGrain<IConstrained<string>>("a").Name().WaitAsync(Gate.Patience));
        Assert.Contains(nameof(ConstrainedGrain<int>), exception.ToString(), StringComparison.Ordinal);
        Assert.IsNotType<TimeoutException>(exception);
    }

    [Fact]
    public async Task A_grain_that_is_cast_to_an_interface_with_another_type_argument_fails_the_call()
    {
        var grain = cluster.Client.GetGrain<IShelf<string>>("cast");
        await grain.Name();
        await Assert.ThrowsAsync<InvalidCastException>(() => grain.AsReference<IShelf<long>>().Name().WaitAsync(Gate.Patience));
        await Assert.ThrowsAsync<InvalidCastException>(
            () => cluster.ClientOf(0).GetGrain<IShelf<string>>("cast").AsReference<IShelf<long>>().Name().WaitAsync(Gate.Patience));
        await Assert.ThrowsAsync<InvalidCastException>(
            () => cluster.Client.GetGrain<IShelf<string>>("cast first").AsReference<IShelf<long>>().Name().WaitAsync(Gate.Patience));
    }

    [Fact]
    public void A_repeated_type_argument_that_differs_has_no_class()
    {
        cluster.Client.GetGrain<IRepeated<int, int>>("a");
        Assert.Throws<ArgumentException>(() => cluster.Client.GetGrain<IRepeated<int, string>>("a"));
        Assert.Throws<ArgumentException>(() => cluster.Client.GetGrain(typeof(IShelf<>), "a"));
        Assert.Throws<ArgumentException>(() => cluster.Client.GetGrain(typeof(List<int>), "a"));
    }

    public interface IConstrained<T> : IGrainWithStringKey
    {
        Task<string> Name();
    }

    public sealed class ConstrainedGrain<T> : Grain, IConstrained<T>
        where T : struct
    {
        public Task<string> Name() => Task.FromResult(typeof(T).Name);
    }

    public interface IRepeated<TOne, TOther> : IGrainWithStringKey;

    public sealed class RepeatedGrain<T> : Grain, IRepeated<T, T>;

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
