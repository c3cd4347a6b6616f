using ActOp.Runtime.Activations;
using ActOp.TestClusters;

namespace ActOp.Lifecycle.Tests;

public class SlidingWindowTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);
    private readonly FakeClock _clock = new();

    [Fact]
    public async Task Who_adds_waits_when_the_window_is_full_until_half_of_it_has_ended()
    {
        var window = new SlidingWindow(4, Patience, _clock, CancellationToken.None);
        var tasks = Enumerable.Range(0, 4).Select(_ => new TaskCompletionSource()).ToArray();
        for (var index = 0; index < 3; index++)
            Assert.True(window.AddAsync(tasks[index].Task) is { IsCompletedSuccessfully: true, Result: true });
        var full = window.AddAsync(tasks[3].Task).AsTask();
        tasks[0].SetResult();
        Assert.False(full.IsCompleted);
        tasks[2].SetResult();
        Assert.True(await full);
        var empty = window.EmptyAsync();
        tasks[1].SetResult();
        Assert.False(empty.IsCompleted);
        tasks[3].SetResult();
        Assert.True(await empty);
    }

    [Fact]
    public async Task What_does_not_end_is_given_up_after_the_patience()
    {
        var window = new SlidingWindow(1, Patience, _clock, CancellationToken.None);
        var full = window.AddAsync(new TaskCompletionSource().Task).AsTask();
        _clock.Advance(Patience);
        Assert.False(await full);
    }

    [Fact]
    public async Task A_cancellation_ends_the_wait()
    {
        using var cancellation = new CancellationTokenSource();
        var window = new SlidingWindow(1, Patience, _clock, cancellation.Token);
        var full = window.AddAsync(new TaskCompletionSource().Task).AsTask();
        await cancellation.CancelAsync();
        Assert.False(await full);
    }
}
