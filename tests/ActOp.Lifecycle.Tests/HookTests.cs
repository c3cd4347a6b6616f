using System.Collections.Concurrent;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;

namespace ActOp.Lifecycle.Tests;

/// <summary>Hooks of grains that hang, throw, or come when the grain is already on its way out.</summary>
public class HookTests(HookTests.HookedSilo cluster) : IClassFixture<HookTests.HookedSilo>
{
    /// <summary>How long a grain whose start has failed refuses calls.</summary>
    private static readonly TimeSpan Refusal = TimeSpan.FromSeconds(5);

    private static readonly ConcurrentDictionary<Guid, Script> Scripts = new();

    [Theory]
    [InlineData("activate")]
    [InlineData("start stage")]
    public async Task Calls_that_wait_for_an_activation_that_hangs_fail_at_its_timeout_and_a_later_call_makes_a_new_one(string hook)
    {
        var grain = Get(out var script);
        using var gate = script.Hang(hook);
        var first = grain.Number();
        await gate.ArrivedAsync();
        Task<int>[] calls = [first, grain.Number(), grain.Number()];
        Assert.All(calls, call => Assert.False(call.IsCompleted));
        await cluster.Clock.TimerSetAsync(VirtualTime.HookTime).WaitAsync(Gate.Patience);
        cluster.Clock.Advance(VirtualTime.HookTime);
        foreach (var call in calls)
        {
            var exception = await Assert.ThrowsAsync<TimeoutException>(() => call.WaitAsync(Gate.Patience));
            Assert.Contains(grain.GetGrainId().ToString(), exception.Message);
            Assert.Contains(cluster.AddressOf(0).ToString(), exception.Message);
            Assert.Contains(VirtualTime.HookTime.ToString(), exception.Message);
        }

        script.Hooks.Clear();
        await EndRefusalAsync(grain);
        Assert.Equal(2, await grain.Number().WaitAsync(Gate.Patience));
        gate.Open();
        await script.Late.Task.WaitAsync(Gate.Patience);
        cluster.Clock.Advance(VirtualTime.HookTime);
        Assert.Equal(2, await grain.Number());
        Assert.Equal(0, script.Ticks);
        Assert.Equal(0, script.Count("OnDeactivate"));
    }

    [Theory]
    [InlineData("deactivate")]
    [InlineData("stop stage")]
    [InlineData("dispose")]
    [InlineData("dispose scope")]
    public async Task An_end_that_hangs_is_left_behind_at_its_timeout_and_queued_calls_go_on(string hook)
    {
        var grain = Get(out var script);
        Assert.Equal(1, await grain.Number());
        using var gate = script.Hang(hook);
        var ending = cluster.Cluster.DeactivateAsync(grain);
        await gate.ArrivedAsync();
        script.Hooks.Clear();
        var queued = grain.Number();
        Assert.False(ending.IsCompleted);
        await cluster.Clock.TimerSetAsync(VirtualTime.HookTime).WaitAsync(Gate.Patience);
        cluster.Clock.Advance(VirtualTime.HookTime);
        await ending.WaitAsync(Gate.Patience);
        Assert.Equal(2, await queued.WaitAsync(Gate.Patience));
        gate.Open();
        Assert.Equal(2, await grain.Number());
    }

    [Theory]
    [InlineData("token callback")]
    [InlineData("deactivate")]
    [InlineData("stop stage")]
    [InlineData("dispose")]
    public async Task A_step_of_the_end_that_throws_does_not_keep_the_others_from_happening(string hook)
    {
        var grain = Get(out var script);
        await grain.StartTimer(TimeSpan.FromSeconds(1));
        cluster.Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(1, await grain.Number());
        script.Hooks[hook] = () => throw new FormatException(hook + " is broken");
        await cluster.Cluster.DeactivateAsync(grain).WaitAsync(Gate.Patience);
        foreach (var step in new[] { "OnDeactivate", "stop stage", "dispose", "dispose scope" })
            Assert.Equal(1, script.Count(step));
        script.Hooks.Clear();
        Assert.Equal(2, await grain.Number());
    }

    [Theory]
    [InlineData("construct")]
    [InlineData("start stage")]
    [InlineData("activate")]
    public async Task A_begin_that_throws_gives_back_what_it_took(string hook)
    {
        var grain = Get(out var script);
        script.Hooks[hook] = () => throw new FormatException(hook + " is broken");
        if (hook == "construct")
        {
            var failed = await Assert.ThrowsAsync<InvalidOperationException>(() => grain.Number().WaitAsync(Gate.Patience));
            Assert.IsType<FormatException>(failed.InnerException);
        }
        else
        {
            await Assert.ThrowsAsync<FormatException>(() => grain.Number().WaitAsync(Gate.Patience));
        }

        script.Hooks.Clear();
        // What it took is given back before the seconds in which it refuses calls.
        await RefusesAsync(grain);
        Assert.Equal(hook == "construct" ? 0 : 1, script.Count("stop stage"));
        Assert.Equal(hook == "construct" ? 0 : 1, script.Count("dispose"));
        Assert.Equal(1, script.Count("dispose scope"));
        await EndRefusalAsync(grain);
        Assert.Equal(2, await grain.Number());
        Assert.Equal(0, script.Count("OnDeactivate"));
    }

    [Fact]
    public async Task A_grain_that_could_not_begin_refuses_calls_with_its_exception_for_five_seconds_and_then_begins_anew()
    {
        var grain = Get(out var script);
        script.Hooks["activate"] = () => throw new FormatException("not today");
        await Assert.ThrowsAsync<FormatException>(() => grain.Number().WaitAsync(Gate.Patience));
        script.Hooks.Clear();
        await RefusesAsync(grain);
        cluster.Clock.Advance(Refusal - TimeSpan.FromMilliseconds(1));
        var refused = await Assert.ThrowsAsync<FormatException>(() => grain.Number().WaitAsync(Gate.Patience));
        Assert.Equal("not today", refused.Message);
        cluster.Clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal(2, await grain.Number().WaitAsync(Gate.Patience));
    }

    [Fact]
    public async Task DeactivateOnIdle_while_activating_ends_the_activation_before_it_serves_a_call()
    {
        var grain = Get(out var script);
        script.Hooks["activate"] = () =>
        {
            script.Hooks.Clear();
            script.Newest!.End();
            return Task.CompletedTask;
        };
        Assert.Equal(2, await grain.Number().WaitAsync(Gate.Patience));
        Assert.Equal(1, script.Count("OnDeactivate"));
    }

    /// <summary>It has nothing to do on the turn that comes: its timer is gone with it.</summary>
    [Fact]
    public async Task A_tick_that_waits_when_its_grain_ends_dies_with_it()
    {
        using var gate = new Gate();
        var grain = Get(out var script);
        await grain.StartTimer(TimeSpan.FromSeconds(1));
        var last = grain.EndAfter(gate.Name);
        await gate.ArrivedAsync();
        cluster.Clock.Advance(TimeSpan.FromSeconds(1));
        var ended = cluster.Cluster.WaitForDeactivationAsync(grain);
        gate.Open();
        await last.WaitAsync(Gate.Patience);
        await ended.WaitAsync(Gate.Patience);
        // New grains take the way that the tick would take, behind it.
        for (var other = 0; other < 10; other++)
            await Get(out _).Number();
        Assert.False(Node.Activations.TryGet(grain.GetGrainId(), out _));
        Assert.Equal(0, script.Ticks);
        Assert.Equal(2, await grain.Number());
    }

    [Fact]
    public async Task A_timer_that_is_made_while_its_grain_ends_never_ticks()
    {
        var grain = Get(out var script);
        await grain.Number();
        script.Hooks["deactivate"] = () => script.Newest!.StartTimer(TimeSpan.FromSeconds(1));
        using var gate = new Gate();
        script.Hooks["dispose"] = () => Gate.PassAsync(gate.Name);
        var ending = cluster.Cluster.DeactivateAsync(grain);
        await gate.ArrivedAsync();
        cluster.Clock.Advance(TimeSpan.FromSeconds(3));
        gate.Open();
        await ending.WaitAsync(Gate.Patience);
        for (var other = 0; other < 10; other++)
            await Get(out _).Number();
        Assert.Equal(0, script.Ticks);
        Assert.False(Node.Activations.TryGet(grain.GetGrainId(), out _));
    }

    [Theory]
    [InlineData("activate")]
    [InlineData("deactivate")]
    [InlineData("dispose")]
    public async Task A_silo_drains_although_a_grain_hangs(string hook)
    {
        var own = new HookedSilo();
        await own.InitializeAsync();
        await using var _ = own;
        var key = Guid.NewGuid();
        var script = Scripts[key] = new Script();
        var grain = own.Silo.GetGrain<IHooked>(key);
        if (hook != "activate")
            await grain.Number();
        using var gate = script.Hang(hook);
        var call = hook == "activate" ? grain.Number() : Task.FromResult(1);
        if (hook == "activate")
            await gate.ArrivedAsync();
        var stopping = own.Cluster.StopSiloAsync(own.Cluster.Silos[0]);
        if (hook != "activate")
            await gate.ArrivedAsync();
        await TestingUtils.WaitUntilAsync(
            last =>
            {
                own.Clock.Advance(TimeSpan.FromSeconds(1));
                return Task.FromResult(stopping.IsCompleted);
            },
            Gate.Patience,
            TimeSpan.FromMilliseconds(5));
        await stopping;
        await Record.ExceptionAsync(() => call.WaitAsync(Gate.Patience));
    }

    /// <summary>The end of a silo tells a beginning grain, which may heed it; its calls are not to blame and go on.</summary>
    [Fact]
    public async Task A_begin_that_heeds_its_token_ends_when_its_end_is_asked_for_and_its_calls_go_on()
    {
        using var gate = new Gate();
        var grain = Get(out var script);
        script.Begin = async token =>
        {
            Gate.Touch(gate.Name);
            await Task.Delay(Timeout.InfiniteTimeSpan, cluster.Clock, token);
        };
        var call = grain.Number();
        await gate.ArrivedAsync();
        script.Begin = null;
        await cluster.Cluster.DeactivateAsync(grain).WaitAsync(Gate.Patience);
        Assert.Equal(2, await call.WaitAsync(Gate.Patience));
    }

    [Fact]
    public async Task Requests_that_always_overlap_do_not_keep_a_grain_from_ending()
    {
        using var first = new Gate();
        using var second = new Gate();
        var grain = cluster.Silo.GetGrain<IBusy>(Guid.NewGuid());
        var calls = new List<Task<int>> { grain.Stay(first.Name) };
        await first.ArrivedAsync();
        var ending = cluster.Cluster.DeactivateAsync(grain);
        // Beside a request that runs others may begin: it may wait for them.
        calls.Add(grain.Stay(second.Name));
        await second.ArrivedAsync();
        first.Open();
        cluster.Clock.Advance(VirtualTime.HookTime);
        var late = grain.Stay(null);
        second.Open();
        await ending.WaitAsync(Gate.Patience);
        Assert.All(await Task.WhenAll(calls), number => Assert.Equal(1, number));
        Assert.Equal(2, await late.WaitAsync(Gate.Patience));
    }

    private Node Node => cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();

    private async Task EndRefusalAsync(IHooked grain)
    {
        await RefusesAsync(grain);
        cluster.Clock.Advance(Refusal);
    }

    /// <summary>The time of the refusal has begun. Other timers of the silo may be due as late as its own.</summary>
    private async Task RefusesAsync(IHooked grain)
    {
        Activation? refusing = null;
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(
                cluster.Cluster.Nodes.Single().Activations.TryGet(grain.GetGrainId(), out refusing) && refusing.Life.IsRefusing),
            Gate.Patience, TimeSpan.FromMilliseconds(1));
        // The turn that begins it also sets its timer.
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        refusing!.Enqueue(new ActionItem(static state => ((TaskCompletionSource)state!).SetResult(), done));
        await done.Task.WaitAsync(Gate.Patience);
    }

    private IHooked Get(out Script script)
    {
        var key = Guid.NewGuid();
        Scripts[key] = script = new Script();
        return cluster.Silo.GetGrain<IHooked>(key);
    }

    public sealed class HookedSilo : VirtualTime
    {
        protected override void ConfigureSilo(ISiloBuilder silo)
        {
            base.ConfigureSilo(silo);
            silo.Services.AddScoped<ScopedPart>();
        }
    }

    public interface IHooked : IGrainWithGuidKey
    {
        /// <summary>How many instances of the grain there were, this one included.</summary>
        Task<int> Number();

        Task StartTimer(TimeSpan period);

        Task EndAfter(string gate);
    }

    public interface IBusy : IGrainWithGuidKey
    {
        /// <summary>How many instances of the grain there were.</summary>
        Task<int> Stay(string? gate);
    }

    [Reentrant]
    public sealed class BusyGrain : Grain, IBusy
    {
        private static readonly ConcurrentDictionary<Guid, int> Instances = new();
        private readonly int _number;

        public BusyGrain() => _number = Instances.AddOrUpdate(this.GetPrimaryKey(), 1, (_, count) => count + 1);

        public async Task<int> Stay(string? gate)
        {
            await Gate.PassAsync(gate);
            return _number;
        }
    }

    /// <summary>What the hooks of one grain do, and what they did.</summary>
    public sealed class Script
    {
        public readonly ConcurrentDictionary<string, Func<Task>> Hooks = new();
        public readonly ConcurrentQueue<string> Steps = new();
        public readonly TaskCompletionSource Late = new(TaskCreationOptions.RunContinuationsAsynchronously);
        public volatile Func<CancellationToken, Task>? Begin;
        public int Instances;
        public int Ticks;
        public HookedGrain? Newest;

        public Gate Hang(string hook)
        {
            var gate = new Gate();
            Hooks[hook] = () => Gate.PassAsync(gate.Name);
            return gate;
        }

        public int Count(string step) => Steps.Count(one => one == step);

        public Task Run(string hook) => Hooks.TryGetValue(hook, out var run) ? run() : Task.CompletedTask;

        public Task Run(string step, string hook)
        {
            Steps.Enqueue(step);
            return Run(hook);
        }
    }

    public sealed class ScopedPart : IAsyncDisposable
    {
        public Script? Script;

        public ValueTask DisposeAsync() => new(Script?.Run("dispose scope", "dispose scope") ?? Task.CompletedTask);
    }

    public sealed class HookedGrain : Grain, IHooked, ILifecycleParticipant<IGrainLifecycle>, IAsyncDisposable
    {
        private readonly Script _script;
        private readonly int _number;

        public HookedGrain(ScopedPart part)
        {
            _script = Scripts[this.GetPrimaryKey()];
            part.Script = _script;
            _script.Newest = this;
            _number = Interlocked.Increment(ref _script.Instances);
            _script.Run("construct").GetAwaiter().GetResult();
        }

        public void Participate(IGrainLifecycle lifecycle) =>
            lifecycle.Subscribe(
                "stage", GrainLifecycleStage.SetupState, _ => Late("start stage"), _ => _script.Run("stop stage", "stop stage"));

        public override async Task OnActivateAsync(CancellationToken cancellationToken)
        {
            if (_script.Begin is { } begin)
                await begin(cancellationToken);
            await Late("activate");
        }

        public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken) =>
            _script.Run("OnDeactivate", "deactivate");

        public Task<int> Number() => Task.FromResult(_number);

        public Task StartTimer(TimeSpan period)
        {
            this.RegisterGrainTimer(
                token =>
                {
                    Interlocked.Increment(ref _script.Ticks);
                    token.Register(() => _script.Run("token callback").GetAwaiter().GetResult());
                    return Task.CompletedTask;
                },
                new GrainTimerCreationOptions(period, period));
            return Task.CompletedTask;
        }

        public async Task EndAfter(string gate)
        {
            await Gate.PassAsync(gate);
            End();
        }

        public void End() => DeactivateOnIdle();

        public async ValueTask DisposeAsync() => await _script.Run("dispose", "dispose");

        /// <summary>What code does that does not know that its activation was left behind.</summary>
        private async Task Late(string hook)
        {
            var run = _script.Run(hook);
            var late = !run.IsCompleted;
            await run;
            if (!late)
                return;
            DeactivateOnIdle();
            await StartTimer(TimeSpan.FromSeconds(1));
            _script.Late.TrySetResult();
        }
    }
}
