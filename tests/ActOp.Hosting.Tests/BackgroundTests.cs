using ActOp.Foundation;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;

namespace ActOp.Hosting.Tests;

/// <summary>Supervised work: nothing fails in silence, and nothing is left when the node ends.</summary>
public sealed class BackgroundTests
{
    private readonly FakeClock _clock = new();
    private readonly LogCapture _log = new();
    private readonly Background _background;

    public BackgroundTests()
    {
        var time = new NodeTime(_clock, static _ => { });
        _background = new Background(time, new TaskTime(time), new Log(_log));
    }

    [Fact]
    public async Task A_followed_task_that_fails_is_logged_with_the_name_of_its_part()
    {
        var part = _background.Part("probes");
        var work = new TaskCompletionSource();
        part.Follow(work.Task);
        Assert.Equal("probes (1)", _background.Running);
        work.SetException(new FormatException("broken"));
        await _background.StopAsync(TestContext.Current.CancellationToken);
        Assert.Contains("probes", Assert.Single(_log.Lines(LogLevel.Error)), StringComparison.Ordinal);
        Assert.Equal("", _background.Running);
    }

    [Fact]
    public void A_followed_task_that_has_failed_already_is_logged()
    {
        _background.Part("moves").Follow(Task.FromException(new FormatException()));
        _background.Part("reports").Follow(ValueTask.FromException(new FormatException()));
        Assert.Equal(2, _log.Lines(LogLevel.Error).Length);
    }

    [Fact]
    public void Work_that_throws_before_it_waits_is_logged_and_not_thrown()
    {
        _background.Part("moves").Run(static _ => throw new FormatException());
        Assert.Single(_log.Lines(LogLevel.Error));
        Assert.Equal("", _background.Running);
    }

    [Fact]
    public async Task What_the_stop_cancels_has_not_failed()
    {
        _background.Part("wait").Run(stopping => Task.Delay(TimeSpan.FromHours(1), _clock, stopping));
        await _background.StopAsync(TestContext.Current.CancellationToken);
        Assert.Empty(_log.Lines(LogLevel.Information));
        Assert.Equal(0, _clock.Waiting);
    }

    [Fact]
    public async Task A_stop_waits_for_what_runs()
    {
        var work = new TaskCompletionSource();
        _background.Part("work").Follow(work.Task);
        var stop = _background.StopAsync(TestContext.Current.CancellationToken);
        var second = _background.StopAsync(TestContext.Current.CancellationToken);
        Assert.False(stop.IsCompleted || second.IsCompleted);
        work.SetResult();
        await stop;
        await second;
    }

    [Fact]
    public async Task A_stop_whose_token_is_cancelled_says_what_it_has_left()
    {
        var work = new TaskCompletionSource();
        _background.Part("endless").Follow(work.Task);
        await _background.StopAsync(new CancellationToken(canceled: true));
        Assert.Contains("endless (1)", Assert.Single(_log.Lines(LogLevel.Warning)), StringComparison.Ordinal);
        work.SetResult();
    }

    [Fact]
    public void A_step_that_throws_is_logged_and_the_next_period_goes_on()
    {
        var steps = 0;
        _background.Part("ticks").Every(TimeSpan.FromSeconds(1), () =>
        {
            if (++steps == 1)
                throw new FormatException();
        });
        _clock.Advance(TimeSpan.FromSeconds(3));
        Assert.Equal(3, steps);
        Assert.Single(_log.Lines(LogLevel.Error));
    }

    [Fact]
    public void A_step_that_waits_is_not_run_twice_at_the_same_time()
    {
        var begun = 0;
        var work = new TaskCompletionSource();
        _background.Part("refresh").Every(TimeSpan.FromSeconds(1), _ =>
        {
            begun++;
            return work.Task;
        });
        _clock.Advance(TimeSpan.FromSeconds(3));
        Assert.Equal(1, begun);
        work.SetResult();
        _clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(2, begun);
    }

    [Fact]
    public void Timers_end_with_the_node_and_none_begins_after_it()
    {
        var part = _background.Part("ticks");
        var steps = 0;
        part.Every(TimeSpan.FromSeconds(1), () => steps++);
        _background.Cancel();
        part.Every(TimeSpan.FromSeconds(1), () => steps++);
        _clock.Advance(TimeSpan.FromSeconds(3));
        Assert.Equal(0, steps);
        Assert.Equal(0, _clock.Waiting);
    }

    [Fact]
    public void A_disposed_timer_is_forgotten()
    {
        var timer = _background.Part("ticks").Every(TimeSpan.FromSeconds(1), () => { });
        timer.Dispose();
        Assert.Equal(0, _clock.Waiting);
    }
}
