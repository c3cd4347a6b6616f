using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

public class RequestContextFlowTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task Values_flow_to_the_callee_and_on_but_never_back(int silo)
    {
        var grain = cluster.ClientOf(0).GetGrain<IContextual>("a" + silo);
        await Place.On(cluster.AddressOf(silo), () => grain.Get("nothing"));
        RequestContext.Set("colour", "red");
        Assert.Equal("red", await grain.Get("colour"));
        Assert.Equal("red", await grain.GetThrough(cluster.Client.GetGrain<IContextual>("b" + silo), "colour"));
        await grain.Set("colour", "blue");
        Assert.Equal("red", RequestContext.Get("colour"));
        RequestContext.Remove("colour");
        Assert.Null(await grain.Get("colour"));
    }

    [Fact]
    public async Task A_change_in_a_grain_reaches_its_own_later_calls_only()
    {
        var grain = cluster.Client.GetGrain<IContextual>("c");
        Assert.Equal("green", await grain.SetAndGetThrough(cluster.Client.GetGrain<IContextual>("d"), "colour", "green"));
        Assert.Null(await grain.Get("colour"));
    }

    /// <summary>As arguments are: what a grain does to a value that it was given stays with it.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task Values_are_copied_for_the_callee(int silo)
    {
        var grain = cluster.ClientOf(0).GetGrain<IContextual>("e" + silo);
        await Place.On(cluster.AddressOf(silo), () => grain.Get("nothing"));
        var list = new List<int> { 1 };
        RequestContext.Set("list", list);
        Assert.Equal(2, await grain.Append("list", 2));
        Assert.Equal(2, await grain.Append("list", 3));
        Assert.Equal([1], list);
        // The caller's own changes after the call was sent are not seen either.
        using var gate = new Gate();
        var blocking = grain.Hold(gate.Name);
        await gate.ArrivedAsync();
        var sent = grain.Append("list", 4);
        list.Add(5);
        gate.Open();
        Assert.Equal(2, await sent);
        await blocking;
        RequestContext.Remove("list");
    }

    /// <summary>As in Orleans. The values are the activation's only while it begins: later calls bring their own.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task An_activation_that_begins_sees_the_values_of_the_call_that_it_begins_for(int silo)
    {
        var grain = cluster.ClientOf(0).GetGrain<IContextual>("f" + silo);
        RequestContext.Set("colour", "yellow");
        await Place.On(cluster.AddressOf(silo), () => grain.Get("nothing"));
        RequestContext.Set("colour", "black");
        Assert.Equal("yellow", await grain.First());
        Assert.Equal("black", await grain.Get("colour"));
        RequestContext.Remove("colour");
        Assert.Null(await grain.Get("colour"));
    }

    public interface IContextual : IGrainWithStringKey
    {
        Task<string?> First();

        Task<int> Append(string key, int value);

        Task Hold(string gate);

        Task<string?> Get(string key);

        Task Set(string key, string value);

        Task<string?> GetThrough(IContextual other, string key);

        Task<string?> SetAndGetThrough(IContextual other, string key, string value);
    }

    public sealed class ContextualGrain : Grain, IContextual
    {
        private string? _first;

        public override Task OnActivateAsync(CancellationToken cancellationToken)
        {
            _first = RequestContext.Get("colour") as string;
            return Task.CompletedTask;
        }

        public Task<string?> First() => Task.FromResult(_first);

        public Task<int> Append(string key, int value)
        {
            var list = (List<int>)RequestContext.Get(key)!;
            list.Add(value);
            return Task.FromResult(list.Count);
        }

        public Task Hold(string gate) => Gate.PassAsync(gate);

        public Task<string?> Get(string key) => Task.FromResult(RequestContext.Get(key) as string);

        public async Task Set(string key, string value)
        {
            RequestContext.Set(key, value);
            await Task.Yield();
        }

        public async Task<string?> GetThrough(IContextual other, string key)
        {
            await Task.Yield();
            return await other.Get(key);
        }

        public async Task<string?> SetAndGetThrough(IContextual other, string key, string value)
        {
            RequestContext.Set(key, value);
            await Task.Yield();
            return await other.Get(key);
        }
    }
}
