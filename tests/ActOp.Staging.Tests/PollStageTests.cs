using System.Collections.Concurrent;

namespace ActOp.Staging.Tests;

public sealed class PollStageTests
{
    /// <summary>F12: what a borrowed turn blocks is the thread that runs it, not the reading.</summary>
    [Fact]
    public async Task A_thread_kept_by_what_it_runs_is_replaced_and_ends()
    {
        using var kept = new ManualResetEventSlim();
        using var release = new ManualResetEventSlim();
        using var wake = new SemaphoreSlim(1);
        var work = Stages.New(1);
        Stages.Settle(work);
        var threads = new ConcurrentDictionary<int, int>();
        var inStep = 0;
        var most = 0;
        var first = 0;
        var isReleased = false;
        var stage = new PollStage("test", _ =>
        {
            most = Math.Max(most, Interlocked.Increment(ref inStep));
            threads.AddOrUpdate(Environment.CurrentManagedThreadId, 1, static (_, count) => count + 1);
            wake.Wait();
            if (Interlocked.Exchange(ref first, 1) == 0)
            {
                PollStage.BorrowUntilStepEnds(work);
                work.Post(new Item(_ =>
                {
                    kept.Set();
                    Volatile.Write(ref isReleased, release.Wait(Stages.Patience));
                }));
            }

            Interlocked.Decrement(ref inStep);
            return true;
        }, _ => wake.Release(), static error => throw error);
        stage.SetThreads(1);
        Assert.True(kept.Wait(Stages.Patience));
        Stages.Until(() => threads.Count == 2);
        Assert.Equal(0, work.Counters.Wakes);
        release.Set();
        wake.Release();
        Stages.Until(() => threads.Values.Max() >= 2);
        stage.SetThreads(0);
        // The other thread may have made both steps before the kept one gets a processor.
        Stages.Until(() => Volatile.Read(ref isReleased));
        Assert.Equal(1, stage.Replaced);
        Assert.Equal(1, most);
        Assert.Equal(1, work.Borrowed);
        await Stages.Stop(work);
    }

    [Fact]
    public void A_thread_that_does_not_end_a_step_is_found_and_one_that_waits_is_woken()
    {
        using var wake = new SemaphoreSlim(0);
        using var release = new ManualResetEventSlim();
        var isKept = false;
        var stage = new PollStage("test", _ =>
        {
            wake.Wait();
            if (Volatile.Read(ref isKept))
                release.Wait(Stages.Patience);
            return true;
        }, _ => wake.Release(), static error => throw error);
        stage.SetThreads(1);
        for (var i = 0; i < 10; i++)
            Stages.Until(() => stage.Probe() == 0);
        Volatile.Write(ref isKept, true);
        Stages.Until(() => stage.Probe() > 100);
        release.Set();
        Stages.Until(() => stage.Probe() == 0);
        stage.SetThreads(0);
    }

    [Fact]
    public void A_thread_that_waits_for_the_outside_keeps_its_post()
    {
        using var wake = new SemaphoreSlim(0);
        using var waiting = new ManualResetEventSlim();
        var stage = new PollStage("test", _ =>
        {
            waiting.Set();
            wake.Wait();
            return true;
        }, _ => wake.Release(), static error => throw error);
        stage.SetThreads(1);
        Assert.True(waiting.Wait(Stages.Patience));
        for (var look = 0; look < 10; look++)
            stage.ReplaceStuckThreads(microseconds: 2000);
        Assert.Equal(0, stage.Replaced);
        Assert.Equal(1, stage.Threads);
        stage.SetThreads(0);
        Assert.Equal(0, stage.Threads);
    }

    [Fact]
    public void A_thread_that_has_not_begun_keeps_its_post()
    {
        for (var start = 0; start < 100; start++)
        {
            using var wake = new SemaphoreSlim(0);
            var stage = WaitingFor(wake);
            stage.SetThreads(1);
            for (var look = 0; look < 10; look++)
                stage.ReplaceStuckThreads(microseconds: 2000);
            Assert.Equal(0, stage.Replaced);
            stage.SetThreads(0);
        }
    }

    [Fact]
    public void No_thread_begins_after_the_end()
    {
        using var wake = new SemaphoreSlim(0);
        var stage = WaitingFor(wake);
        // One thread: of two that wait for the same permit the wrong one may take it.
        stage.SetThreads(1);
        stage.Dispose();
        stage.SetThreads(2);
        stage.ReplaceStuckThreads(microseconds: 2000);
        Assert.Equal(0, stage.Threads);
    }

    private static PollStage WaitingFor(SemaphoreSlim wake) => new("test", _ =>
    {
        wake.Wait();
        return true;
    }, _ => wake.Release(), static error => throw error);
}
