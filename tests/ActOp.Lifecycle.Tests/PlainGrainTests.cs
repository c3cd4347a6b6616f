using ActOp.TestClusters;

namespace ActOp.Lifecycle.Tests;

/// <summary>A class that only implements its grain interface is a grain.</summary>
public class PlainGrainTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    [Fact]
    public async Task A_class_without_a_base_is_a_grain_with_state_of_its_own()
    {
        var first = cluster.Client.GetGrain<IPlain>("first");
        Assert.Equal(1, await first.Count());
        Assert.Equal(2, await first.Count());
        Assert.Equal(1, await cluster.Client.GetGrain<IPlain>("second").Count());
    }

    [Fact]
    public async Task It_gets_its_context_and_services_injected() =>
        Assert.Equal("plain/context", await cluster.Client.GetGrain<IPlain>("context").Id());

    [Fact]
    public async Task It_calls_other_grains_and_itself() => Assert.Equal("hi", await cluster.Client.GetGrain<IPlain>("caller").Ask("hi"));

    [Fact]
    public async Task A_class_that_implements_the_base_interface_is_told_of_its_life() =>
        Assert.Equal("activated", await cluster.Client.GetGrain<IHooked>("hooked").State());

    public interface IPlain : IGrainWithStringKey
    {
        Task<int> Count();

        Task<string> Id();

        Task<string> Ask(string text);
    }

    public sealed class PlainGrain(IGrainContext context, IGrainFactory grains) : IPlain
    {
        private int _count;

        public Task<int> Count() => Task.FromResult(++_count);

        public Task<string> Id() => Task.FromResult(context.GrainId.ToString());

        public Task<string> Ask(string text) => grains.GetGrain<IEchoGrain>("plain").Echo(text);
    }

    public interface IHooked : IGrainWithStringKey
    {
        Task<string> State();
    }

    public sealed class PlainHookedGrain(IGrainContext context) : IGrainBase, IHooked
    {
        private string _state = "new";

        public IGrainContext GrainContext => context;

        public Task OnActivateAsync(CancellationToken token)
        {
            _state = "activated";
            return Task.CompletedTask;
        }

        public Task<string> State() => Task.FromResult(_state);
    }
}
