using System.Collections.Concurrent;
using ActOp.TestClusters;

namespace ActOp.Lifecycle.Tests;

public class LifecycleTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    private static readonly ConcurrentDictionary<Guid, ConcurrentQueue<string>> Lives = new();

    [Fact]
    public async Task A_life_goes_through_its_stages_in_order()
    {
        var grain = Get(out var life);
        await grain.Touch();
        await cluster.Cluster.DeactivateAsync(grain);
        Assert.Equal(["construct", "setup", "activate stage", "OnActivate", "call", "OnDeactivate ApplicationRequested",
            "stop activate stage", "stop setup", "dispose"], life);
    }

    [Fact]
    public async Task DeactivateOnIdle_ends_after_the_running_call_and_queued_calls_go_to_the_next_activation()
    {
        using var gate = new Gate();
        var grain = Get(out _);
        var first = await grain.Id();
        var ending = grain.EndAndBlock(gate.Name);
        await gate.ArrivedAsync();
        var queued = Enumerable.Range(0, 50).Select(_ => grain.Id()).ToArray();
        gate.Open();
        Assert.Equal(first, await ending);
        var next = await Task.WhenAll(queued);
        Assert.Single(next.Distinct());
        Assert.NotEqual(first, next[0]);
    }

    [Fact]
    public async Task A_constructor_that_throws_fails_its_callers()
    {
        var key = Guid.NewGuid();
        FragileGrain.Broken[key] = "constructor";
        var grain = cluster.Client.GetGrain<IFragile>(key);
        var calls = Enumerable.Range(0, 5).Select(_ => grain.Touch()).ToArray();
        foreach (var call in calls)
        {
            var exception = await Assert.ThrowsAsync<InvalidOperationException>(() => call);
            Assert.Equal("Failed to create an instance of grain type '" + typeof(FragileGrain) + "'. See InnerException for details.",
                exception.Message);
            Assert.IsType<FormatException>(exception.InnerException);
        }
    }

    [Fact]
    public async Task OnActivateAsync_that_throws_fails_its_callers_and_OnDeactivateAsync_is_not_called()
    {
        var key = Guid.NewGuid();
        FragileGrain.Broken[key] = "activate";
        var grain = cluster.Client.GetGrain<IFragile>(key);
        var exception = await Assert.ThrowsAsync<FormatException>(() => grain.Touch());
        Assert.Equal("activate is broken", exception.Message);
        Assert.Equal(0, FragileGrain.Ended.GetValueOrDefault(key));
    }

    [Fact]
    public async Task DeactivateOnIdle_while_activating_does_not_hang_the_next_caller()
    {
        var key = Guid.NewGuid();
        FragileGrain.Broken[key] = "leave";
        await cluster.Client.GetGrain<IFragile>(key).Touch().WaitAsync(Gate.Patience);
        Assert.Equal(1, FragileGrain.Ended[key]);
    }

    [Fact]
    public async Task A_grain_that_leaves_whenever_it_activates_refuses_its_calls()
    {
        var key = Guid.NewGuid();
        FragileGrain.Broken[key] = "always leave";
        await Assert.ThrowsAsync<OrleansMessageRejectionException>(
            () => cluster.Client.GetGrain<IFragile>(key).Touch().WaitAsync(Gate.Patience));
    }

    [Fact]
    public async Task OnDeactivateAsync_that_throws_does_not_keep_the_grain()
    {
        var key = Guid.NewGuid();
        var grain = cluster.Client.GetGrain<IFragile>(key);
        await grain.Touch();
        FragileGrain.Broken[key] = "deactivate";
        await cluster.Cluster.DeactivateAsync(grain).WaitAsync(Gate.Patience);
        FragileGrain.Broken.TryRemove(key, out _);
        await grain.Touch();
    }

    private IMortal Get(out ConcurrentQueue<string> life)
    {
        var key = Guid.NewGuid();
        Lives[key] = life = new ConcurrentQueue<string>();
        return cluster.Client.GetGrain<IMortal>(key);
    }

    public interface IMortal : IGrainWithGuidKey
    {
        Task Touch();

        Task<Guid> Id();

        Task<Guid> EndAndBlock(string gate);
    }

    public interface IFragile : IGrainWithGuidKey
    {
        Task Touch();
    }

    public sealed class MortalGrain : Grain, IMortal, ILifecycleParticipant<IGrainLifecycle>, IAsyncDisposable
    {
        private readonly Guid _id = Guid.NewGuid();

        public MortalGrain() => Note("construct");

        public void Participate(IGrainLifecycle lifecycle)
        {
            lifecycle.Subscribe("late", GrainLifecycleStage.Activate, _ => Note("activate stage"), _ => Note("stop activate stage"));
            lifecycle.Subscribe("early", GrainLifecycleStage.SetupState, _ => Note("setup"), _ => Note("stop setup"));
        }

        public override Task OnActivateAsync(CancellationToken cancellationToken) => Note("OnActivate");

        public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken) =>
            Note("OnDeactivate " + reason.ReasonCode);

        public Task Touch() => Note("call");

        public Task<Guid> Id() => Task.FromResult(_id);

        public async Task<Guid> EndAndBlock(string gate)
        {
            DeactivateOnIdle();
            await Gate.PassAsync(gate);
            return _id;
        }

        public async ValueTask DisposeAsync()
        {
            await Task.Yield();
            _ = Note("dispose");
        }

        private Task Note(string step)
        {
            Lives.GetOrAdd(this.GetPrimaryKey(), _ => new ConcurrentQueue<string>()).Enqueue(step);
            return Task.CompletedTask;
        }
    }

    public sealed class FragileGrain : Grain, IFragile
    {
        public static readonly ConcurrentDictionary<Guid, string> Broken = new();
        public static readonly ConcurrentDictionary<Guid, int> Ended = new();

        public FragileGrain() => Check("constructor");

        public override Task OnActivateAsync(CancellationToken cancellationToken)
        {
            Check("activate");
            if (Broken.TryRemove(KeyValuePair.Create(this.GetPrimaryKey(), "leave")))
                DeactivateOnIdle();
            if (Broken.GetValueOrDefault(this.GetPrimaryKey()) == "always leave")
                DeactivateOnIdle();
            return Task.CompletedTask;
        }

        public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
        {
            Ended.AddOrUpdate(this.GetPrimaryKey(), 1, (_, count) => count + 1);
            Check("deactivate");
            return Task.CompletedTask;
        }

        public Task Touch() => Task.CompletedTask;

        private void Check(string part)
        {
            if (Broken.TryGetValue(this.GetPrimaryKey(), out var broken) && broken == part)
                throw new FormatException(part + " is broken");
        }
    }
}
