namespace ActOp.Staging.Tests;

/// <summary>Posts of threads of the pool; the orders of their steps are explored apart, these are on real threads.</summary>
public sealed class InlineRunsTests
{
    [Fact]
    public async Task What_a_pool_thread_posts_runs_although_it_blocks_until_then()
    {
        var stage = Stages.New(1);
        for (var round = 0; round < 20; round++)
        {
            Stages.Settle(stage);
            await Task.Run(() =>
            {
                using var done = new ManualResetEventSlim();
                stage.Post(new Item(_ => done.Set()));
                Assert.True(done.Wait(Stages.Patience));
            });
        }

        await Stages.Stop(stage);
    }

    [Fact]
    public async Task What_many_pool_threads_post_runs_once_and_never_on_more_threads_than_the_stage_has()
    {
        const int Threads = 2;
        var stage = Stages.New(Threads);
        var occupancy = new Occupancy();
        var items = Enumerable.Range(0, 40_000).Select(_ => new Item(occupancy.Run)).ToArray();
        await Task.WhenAll(Enumerable.Range(0, 4).Select(part => Task.Run(async () =>
        {
            for (var index = part; index < items.Length; index += 4)
            {
                stage.Post(items[index]);
                if (index % 64 == part)
                    await Task.Yield();
            }
        })));
        Stages.Until(() => Array.TrueForAll(items, static item => item.Runs > 0));
        await Stages.Stop(stage);
        Assert.All(items, item => Assert.Equal(1, item.Runs));
        Assert.InRange(occupancy.Most, 1, Threads);
    }

    [Fact]
    public async Task Whoever_awaits_what_he_has_posted_runs_it_himself()
    {
        const int Rounds = 20_000;
        var stage = Stages.New(1);
        Stages.Settle(stage);
        await Task.Run(async () =>
        {
            for (var round = 0; round < Rounds; round++)
            {
                var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                stage.Post(new Item(_ => done.SetResult()));
                await done.Task;
            }
        });

        // On a quiet machine nearly all; while this thread has to wait for a processor, the monitor wakes the worker.
        Assert.InRange(stage.Borrowed, 1, Rounds);
        Assert.Equal(Rounds, stage.Counters.Executed);
        await Stages.Stop(stage);
    }
}
