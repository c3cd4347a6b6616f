namespace DropIn;

/// <summary>Calls, what they may have as arguments and results, and what stays each side's own.</summary>
public class CallTests(CommonCluster cluster)
{
    private ICalls Grain([System.Runtime.CompilerServices.CallerMemberName] string key = "") => cluster.Client.GetGrain<ICalls>(key);

    [Fact]
    public async Task Calls_return_tasks_and_values()
    {
        var grain = Grain();
        await grain.Nothing();
        await grain.NothingSoon();
        Assert.Equal("x", await grain.Text("x"));
        Assert.Null(await grain.Text(null));
        Assert.Equal(5, await grain.Sum(2, 3));
        Assert.Equal((2, "a"), await grain.Pair(["a", "b"]));
    }

    [Fact]
    public async Task Overloads_generic_methods_and_default_arguments_are_what_the_compiler_chose()
    {
        var grain = Grain();
        Assert.Equal("int 1", await grain.Over(1));
        Assert.Equal("string 1", await grain.Over("1"));
        Assert.Equal("both 12", await grain.Over("1", 2));
        Assert.Equal(7, await grain.Echo(7));
        Assert.Equal([1, 2], await grain.Echo(new List<int> { 1, 2 }));
        Assert.Equal("String Int32", await grain.Kinds("a", 1));
        Assert.Equal("the default6", await grain.Optional(numbers: [1, 2, 3]));
    }

    [Fact]
    public async Task A_method_with_a_body_in_the_interface_can_be_called() =>
        Assert.Equal("the interface answers", await Grain().Defaulted());

    [Fact]
    public async Task A_grain_passes_itself_as_a_reference()
    {
        var grain = Grain();
        var self = await grain.Self();
        Assert.Equal(grain, self);
        Assert.Equal(grain.GetHashCode(), self.GetHashCode());
        Assert.IsNotType<CallsGrain>(self);
        Assert.True(await grain.IsThis(self));
        Assert.False(await grain.IsThis(cluster.Client.GetGrain<ICalls>("another")));
    }

    [Fact]
    public async Task A_grain_calls_another_one()
    {
        Assert.Equal("x by first", await cluster.Client.GetGrain<ICalls>("first").Through(Grain(), "x"));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_silo_calls_as_a_client_does(int silo) =>
        Assert.Equal("x", await cluster.FactoryOf(silo).GetGrain<ICalls>("from silo " + silo).Text("x"));

    [Fact]
    public async Task Arguments_of_type_object_keep_their_types()
    {
        var grain = Grain();
        Assert.Equal("null", await grain.Describe(null));
        Assert.Equal("Int32 1", await grain.Describe(1));
        Assert.Equal("Guid 00000000-0000-0000-0000-000000000000", await grain.Describe(Guid.Empty));
        Assert.Equal("String[] of 2", await grain.Describe(new[] { "a", "b" }));
        Assert.Equal("List`1 of 1", await grain.Describe(new List<object?> { null }));
        Assert.Equal("Dictionary`2 of 1", await grain.Describe(new Dictionary<string, int> { ["a"] = 1 }));
        Assert.Equal("DayOfWeek Friday", await grain.Describe(DayOfWeek.Friday));
        Assert.Equal("Label Label { Text = x }", await grain.Describe(new Label("x")));
    }

    [Fact]
    public async Task Arguments_are_copies_unless_they_are_immutable()
    {
        var silo = cluster.FactoryOf(0);
        var (one, other) = (silo.GetGrain<IBaskets>("one"), silo.GetGrain<IBaskets>("other"));
        await other.Stock();
        Assert.Equal("False True True True; took: one,two; left: one", await one.GiveAway(other));
    }

    [Fact]
    public async Task Results_are_copies()
    {
        var silo = cluster.FactoryOf(0);
        var (one, other) = (silo.GetGrain<IBaskets>("taker"), silo.GetGrain<IBaskets>("owner"));
        Assert.Equal("stock", await one.TakeBack(other));
    }

    [Fact]
    public async Task Objects_that_occur_twice_in_a_call_arrive_as_one()
    {
        var grain = cluster.Client.GetGrain<IBaskets>("identity");
        var basket = new Basket();
        Assert.True(await grain.AreOne(basket, basket));
        Assert.False(await grain.AreOne(basket, new Basket()));
        basket.Other = new Basket { Other = basket };
        Assert.True(await grain.IsRing(basket));
    }

    [Fact]
    public async Task Many_calls_at_once_are_all_answered()
    {
        var grain = Grain();
        var sums = await Task.WhenAll(Enumerable.Range(0, 500).Select(index => grain.Sum(index, 1).AsTask()));
        Assert.Equal(Enumerable.Range(1, 500), sums);
    }
}
