namespace DropIn;

public interface IContextual : IGrainWithStringKey
{
    Task<string?> Value(string key);

    Task<string?> Through(IContextual other, string key);

    Task Change(string key);

    Task<string> Keys();

    Task<string?> AfterTimer(string key);
}

public sealed class ContextualGrain : Grain, IContextual
{
    public Task<string?> Value(string key) => Task.FromResult(RequestContext.Get(key)?.ToString());

    public async Task<string?> Through(IContextual other, string key)
    {
        await other.Change(key);
        var after = RequestContext.Get(key);
        RequestContext.Set(key, after + "!");
        return await other.Value(key);
    }

    public Task Change(string key)
    {
        RequestContext.Set(key, "changed");
        RequestContext.Set("new", "new");
        return Task.CompletedTask;
    }

    public Task<string> Keys() => Task.FromResult(string.Join(',', RequestContext.Keys.Where(static key => key[0] != '#').Order()));

    public Task<string?> AfterTimer(string key)
    {
        var value = new TaskCompletionSource<string?>();
        this.RegisterGrainTimer(
            (_, _) =>
            {
                value.SetResult(RequestContext.Get(key)?.ToString());
                return Task.CompletedTask;
            },
            this,
            new GrainTimerCreationOptions(TimeSpan.Zero, Timeout.InfiniteTimeSpan) { Interleave = true });
        return value.Task;
    }
}

/// <summary>Values that travel with calls.</summary>
public class ContextTests(CommonCluster cluster)
{
    private IContextual Grain([System.Runtime.CompilerServices.CallerMemberName] string key = "") =>
        cluster.Client.GetGrain<IContextual>(key);

    [Fact]
    public async Task A_value_travels_to_the_grain_and_no_change_comes_back()
    {
        RequestContext.Set("value", 7);
        Assert.Equal("7", await Grain().Value("value"));
        await Grain().Change("value");
        Assert.Equal(7, RequestContext.Get("value"));
        Assert.Null(RequestContext.Get("new"));
        Assert.True(RequestContext.Remove("value"));
        Assert.False(RequestContext.Remove("value"));
        Assert.Null(await Grain().Value("value"));
    }

    [Fact]
    public async Task A_value_travels_through_a_grain_with_what_that_one_has_changed()
    {
        RequestContext.Set("value", "x");
        Assert.Equal("x!", await Grain().Through(cluster.Client.GetGrain<IContextual>("another"), "value"));
        Assert.Equal("x", RequestContext.Get("value"));
        RequestContext.Clear();
    }

    [Fact]
    public async Task Each_call_has_the_values_of_its_caller()
    {
        RequestContext.Set("one", 1);
        Assert.Equal("one", await Grain().Keys());
        RequestContext.Clear();
        RequestContext.Set("two", 2);
        Assert.Equal("two", await Grain().Keys());
        RequestContext.Clear();
        Assert.Equal("", await Grain().Keys());
        Assert.Empty(RequestContext.Keys);
    }

    [Fact]
    public async Task Values_may_be_objects_and_arrive_as_copies()
    {
        var basket = new Basket { Items = ["a"] };
        RequestContext.Set("basket", basket);
        Assert.Equal("DropIn.Basket", await Grain().Value("basket"));
        RequestContext.Set("null", null!);
        Assert.Null(await Grain().Value("null"));
        RequestContext.Clear();
    }

    [Fact]
    public async Task A_timer_has_no_values()
    {
        RequestContext.Set("value", "x");
        Assert.Null(await Grain().AfterTimer("value"));
        RequestContext.Clear();
    }
}
