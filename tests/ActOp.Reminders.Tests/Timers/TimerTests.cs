using ActOp.TestClusters;

namespace ActOp.Reminders.Tests.Timers;

/// <summary>Timers of grains. A tick that is due is in the mailbox when Advance returns, so a call after it sees its effect.</summary>
public class TimerTests(VirtualTime cluster) : IClassFixture<VirtualTime>
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public async Task A_timer_ticks_when_due_and_then_once_a_period()
    {
        var grain = Get();
        await grain.Start(10 * Second, 5 * Second, false, null);
        cluster.Clock.Advance(9 * Second);
        Assert.Equal(0, await grain.Ticks());
        cluster.Clock.Advance(Second);
        Assert.Equal(1, await grain.Ticks());
        cluster.Clock.Advance(4 * Second);
        Assert.Equal(1, await grain.Ticks());
        cluster.Clock.Advance(Second);
        Assert.Equal(2, await grain.Ticks());
    }

    [Fact]
    public async Task The_period_begins_when_the_callback_has_ended()
    {
        using var gate = new Gate();
        var grain = Get();
        await grain.Start(Second, 5 * Second, true, gate.Name);
        cluster.Clock.Advance(Second);
        await gate.ArrivedAsync();
        cluster.Clock.Advance(20 * Second);
        gate.Open();
        Assert.Equal(1, await grain.TicksWhenRested());
        cluster.Clock.Advance(4 * Second);
        Assert.Equal(1, await grain.TicksWhenRested());
        cluster.Clock.Advance(Second);
        Assert.Equal(2, await grain.TicksWhenRested());
    }

    [Fact]
    public async Task An_infinite_period_means_one_tick()
    {
        var grain = Get();
        await grain.Start(Second, Timeout.InfiniteTimeSpan, false, null);
        cluster.Clock.Advance(60 * Second);
        Assert.Equal(1, await grain.Ticks());
    }

    [Fact]
    public async Task A_tick_waits_for_the_running_call_unless_it_interleaves()
    {
        using var gate = new Gate();
        var waiting = Get();
        await waiting.Start(Second, 60 * Second, false, null);
        var interleaving = Get();
        await interleaving.Start(Second, 60 * Second, true, null);
        var calls = new[] { waiting.Block(gate.Name), interleaving.Block(gate.Name) };
        await gate.ArrivedAsync();
        await gate.ArrivedAsync();
        cluster.Clock.Advance(2 * Second);
        Assert.Equal(0, await waiting.TicksNow());
        Assert.Equal(1, await interleaving.TicksNow());
        gate.Open();
        await Task.WhenAll(calls);
        Assert.Equal(1, await waiting.Ticks());
    }

    [Fact]
    public async Task An_exception_of_a_callback_does_not_stop_the_timer()
    {
        var grain = Get();
        await grain.StartFailing(Second, Second);
        for (var tick = 1; tick <= 3; tick++)
        {
            cluster.Clock.Advance(Second);
            Assert.Equal(tick, await grain.Ticks());
        }
    }

    [Fact]
    public async Task A_timer_can_be_changed_and_disposed()
    {
        var grain = Get();
        await grain.Start(Second, Second, false, null);
        await grain.Change(10 * Second, 20 * Second);
        cluster.Clock.Advance(9 * Second);
        Assert.Equal(0, await grain.Ticks());
        cluster.Clock.Advance(Second);
        Assert.Equal(1, await grain.Ticks());
        cluster.Clock.Advance(19 * Second);
        Assert.Equal(1, await grain.Ticks());
        await grain.Stop();
        cluster.Clock.Advance(60 * Second);
        Assert.Equal(1, await grain.Ticks());
    }

    /// <summary>The second tick runs beside the first one, whose callback has set it.</summary>
    [Fact]
    public async Task Change_in_an_interleaving_callback_holds_until_the_next_change()
    {
        using var gate = new Gate();
        var grain = Get();
        await grain.Start(Second, 100 * Second, true, gate.Name);
        cluster.Clock.Advance(Second);
        await gate.ArrivedAsync();
        await grain.Change(2 * Second, 50 * Second);
        cluster.Clock.Advance(2 * Second);
        await gate.ArrivedAsync();
        await grain.Change(3 * Second, 50 * Second);
        gate.Open();
        Assert.Equal(2, await grain.TicksWhenRested());
        cluster.Clock.Advance(3 * Second);
        Assert.Equal(3, await grain.TicksWhenRested());
    }

    [Fact]
    public async Task Deactivation_ends_a_timer_and_signals_its_token()
    {
        using var gate = new Gate();
        var grain = Get();
        await grain.Start(Second, Second, false, null);
        await grain.SignalWhenTokenEnds(gate.Name);
        cluster.Clock.Advance(Second);
        Assert.Equal(1, await grain.Ticks());
        await cluster.Cluster.DeactivateAsync(grain);
        await gate.ArrivedAsync();
        cluster.Clock.Advance(10 * Second);
        Assert.Equal(0, await grain.Ticks());
    }

    [Fact]
    public async Task A_timer_keeps_its_grain_in_memory_only_when_told()
    {
        var idle = Get();
        var kept = Get();
        await idle.Start(60 * Second, 60 * Second, false, null);
        await kept.StartKeepingAlive(60 * Second, 60 * Second);
        var ending = cluster.Cluster.WaitForDeactivationAsync(idle);
        await TestingUtils.WaitUntilAsync(
            _ =>
            {
                // A collection that meets a tick lets the grain live until the next one.
                cluster.Clock.Advance(TimeSpan.FromSeconds(45));
                return Task.FromResult(ending.IsCompleted);
            },
            Gate.Patience,
            TimeSpan.FromMilliseconds(10));
        Assert.True(cluster.Cluster.TryGetGrainContext(kept.GetGrainId(), out var context));
        Assert.False(context!.Deactivated.IsCompleted);
        Assert.NotEqual(0, await kept.Ticks());
    }

    [Fact]
    public async Task Times_out_of_range_are_refused()
    {
        var grain = Get();
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => grain.Start(TimeSpan.FromMilliseconds(-2), Second, false, null));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => grain.Start(Second, TimeSpan.FromDays(50), false, null));
    }

    [Fact]
    public async Task A_timer_is_registered_on_the_grains_own_turn_only() =>
        await Assert.ThrowsAsync<InvalidOperationException>(() => Get().StartOutside());

    private ITicking Get() => cluster.Silo.GetGrain<ITicking>(Guid.NewGuid());

    public interface ITicking : IGrainWithGuidKey
    {
        Task Start(TimeSpan due, TimeSpan period, bool interleave, string? gate);

        Task StartFailing(TimeSpan due, TimeSpan period);

        Task StartKeepingAlive(TimeSpan due, TimeSpan period);

        Task StartOutside();

        Task Change(TimeSpan due, TimeSpan period);

        Task Stop();

        Task Block(string gate);

        Task SignalWhenTokenEnds(string gate);

        Task<int> Ticks();

        [AlwaysInterleave]
        Task<int> TicksNow();

        Task<int> TicksWhenRested();
    }

    public sealed class TickingGrain : Grain, ITicking
    {
        private IGrainTimer? _timer;
        private readonly TaskCompletionSource _rested = new();
        private int _ticks;
        private string? _signal;

        public Task Start(TimeSpan due, TimeSpan period, bool interleave, string? gate)
        {
            _timer = this.RegisterGrainTimer(
                token => Tick(gate, token), new GrainTimerCreationOptions(due, period) { Interleave = interleave });
            return Task.CompletedTask;
        }

        public Task StartFailing(TimeSpan due, TimeSpan period)
        {
            _timer = this.RegisterGrainTimer(
                async () =>
                {
                    _ticks++;
                    await Task.Yield();
                    throw new InvalidOperationException("a tick fails");
                },
                due,
                period);
            return Task.CompletedTask;
        }

        public Task StartKeepingAlive(TimeSpan due, TimeSpan period)
        {
            _timer = this.RegisterGrainTimer(_ => Tick(null, default), new GrainTimerCreationOptions(due, period) { KeepAlive = true });
            return Task.CompletedTask;
        }

        public Task StartOutside() => Task.Run(() => this.RegisterGrainTimer(() => Task.CompletedTask, Second, Second));

        public Task Change(TimeSpan due, TimeSpan period)
        {
            _timer!.Change(due, period);
            return Task.CompletedTask;
        }

        public Task Stop()
        {
            _timer!.Dispose();
            return Task.CompletedTask;
        }

        public Task Block(string gate) => Gate.PassAsync(gate);

        public Task SignalWhenTokenEnds(string gate)
        {
            _signal = gate;
            return Task.CompletedTask;
        }

        public Task<int> Ticks() => Task.FromResult(_ticks);

        public Task<int> TicksNow() => Task.FromResult(_ticks);

        public async Task<int> TicksWhenRested()
        {
            await _rested.Task;
            await Task.Yield();
            return _ticks;
        }

        private async Task Tick(string? gate, CancellationToken token)
        {
            _ticks++;
            if (_signal is { } signal)
                token.Register(() => Gate.Touch(signal));
            await Gate.PassAsync(gate);
            _rested.TrySetResult();
        }
    }
}
