using ActOp.Tests.Clusters;

namespace ActOp.Tests.Calls;

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

    public interface IContextual : IGrainWithStringKey
    {
        Task<string?> Get(string key);

        Task Set(string key, string value);

        Task<string?> GetThrough(IContextual other, string key);

        Task<string?> SetAndGetThrough(IContextual other, string key, string value);
    }

    public sealed class ContextualGrain : Grain, IContextual
    {
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
