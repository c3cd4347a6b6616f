using ActOp.TestClusters;

namespace ActOp.Surface.Tests;

/// <summary>Waiting of tests: conditions are asked up to a deadline, and never after it.</summary>
public class WaitingTests
{
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(20);

    /// <summary>Its last quarter is for the last call.</summary>
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(4);

    [Fact]
    public async Task The_last_call_comes_before_the_deadline_and_may_fail_with_its_own_exception()
    {
        var calls = 0;
        var clock = new FakeClock();
        var waiting = TestingUtils.WaitUntilAsync(
            (last, _) =>
            {
                calls++;
                return last ? throw new InvalidOperationException("details") : Task.FromResult(false);
            },
            Long, Long, clock);
        // A machine that stands still would miss the last call, which is not made after the deadline.
        await clock.TimerSetAsync(0.75 * Long).WaitAsync(Gate.Patience);
        clock.Advance(0.75 * Long);
        var failed = await Assert.ThrowsAsync<InvalidOperationException>(() => waiting.WaitAsync(Gate.Patience));
        Assert.Equal(("details", 2), (failed.Message, calls));
    }

    [Fact]
    public async Task The_token_of_a_call_ends_at_the_deadline_and_the_exception_has_the_condition()
    {
        var failed = await Assert.ThrowsAsync<TimeoutException>(static () => TestingUtils.WaitUntilAsync(
            static async (_, token) =>
            {
                await Task.Delay(Timeout.InfiniteTimeSpan, token);
                return true;
            },
            Short));
        Assert.Contains("static async (_, token) =>", failed.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_condition_that_is_met_after_the_deadline_does_not_count()
    {
        var late = new TaskCompletionSource<bool>();
        var waiting = TestingUtils.WaitUntilSucceededAsync(
            token =>
            {
                token.Register(() => late.TrySetResult(true));
                return late.Task;
            },
            Short);
        Assert.False(await waiting);
    }

    [Fact]
    public async Task Exceptions_of_a_condition_and_the_callers_cancellation_reach_the_caller()
    {
        await Assert.ThrowsAsync<InvalidOperationException>(static () =>
            TestingUtils.WaitUntilSucceededAsync(static _ => throw new InvalidOperationException("no"), Gate.Patience));
        using var given = new CancellationTokenSource();
        await given.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() =>
            TestingUtils.WaitUntilSucceededAsync(static _ => Task.FromResult(false), Gate.Patience, Short, given.Token));
    }
}
