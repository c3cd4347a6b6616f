namespace ActOp.Staging.Tests;

public sealed class StageTests
{
    [Fact]
    public async Task No_item_is_lost_or_run_twice_while_the_number_of_threads_changes()
    {
        var stage = Stages.New(2);
        var items = Enumerable.Range(0, 40_000).Select(_ => new Item()).ToArray();
        var posters = Enumerable.Range(0, 4).Select(part => Task.Run(() =>
        {
            for (var index = part; index < items.Length; index += 4)
                stage.Post(items[index]);
        })).ToArray();
        var random = new Random(1);
        while (!posters.All(poster => poster.IsCompleted))
            stage.SetThreads(random.Next(1, 6));
        await Task.WhenAll(posters);
        await Stages.Stop(stage);
        Assert.All(items, item => Assert.Equal(1, item.Runs));
        Assert.Equal(items.Length, stage.Counters.Executed);
    }

    [Fact]
    public async Task Items_posted_by_items_all_run_while_the_number_of_threads_changes()
    {
        var stage = Stages.New(3);
        var chains = new Item[64];
        var ended = new CountdownEvent(chains.Length);
        for (var index = 0; index < chains.Length; index++)
        {
            chains[index] = new Item(item =>
            {
                if (item.Runs < 500)
                    stage.Post(item);
                else
                    ended.Signal();
            });
        }

        foreach (var chain in chains)
            stage.Post(chain);
        var random = new Random(2);
        while (!ended.IsSet)
            stage.SetThreads(random.Next(1, 6));
        await Stages.Stop(stage);
        Assert.All(chains, chain => Assert.Equal(500, chain.Runs));
    }

    [Fact]
    public async Task Two_items_that_post_each_other_do_not_starve_a_third_of_the_same_thread()
    {
        var stage = Stages.New(1);
        var rounds = 0;
        var roundsAtThird = -1;
        Item? ping = null;
        Item? pong = null;
        var third = new Item(_ => roundsAtThird = rounds);
        void Bounce(Item? other)
        {
            rounds++;
            if (rounds == 1)
                stage.Post(third);
            if (roundsAtThird < 0 && rounds < 10_000)
                stage.Post(other!);
        }

        ping = new Item(_ => Bounce(pong));
        pong = new Item(_ => Bounce(ping));
        stage.Post(ping);
        Stages.Until(() => third.Runs == 1);
        await Stages.Stop(stage);
        Assert.InRange(roundsAtThird, 1, 40);
    }

    [Fact]
    public async Task Items_that_post_each_other_do_not_starve_one_from_outside()
    {
        var stage = Stages.New(1);
        using var posted = new ManualResetEventSlim();
        var rounds = 0;
        var roundsAtOutsider = -1;
        Item? ping = null;
        Item? pong = null;
        var outsider = new Item(_ => roundsAtOutsider = rounds);
        void Bounce(Item? other)
        {
            if (rounds++ == 0)
                Assert.True(posted.Wait(Stages.Patience));
            if (roundsAtOutsider < 0 && rounds < 10_000)
                stage.Post(other!);
        }

        ping = new Item(_ => Bounce(pong));
        pong = new Item(_ => Bounce(ping));
        stage.Post(ping);
        stage.Post(outsider);
        posted.Set();
        Stages.Until(() => outsider.Runs == 1);
        await Stages.Stop(stage);
        Assert.InRange(roundsAtOutsider, 0, 200);
    }

    [Fact]
    public async Task What_waits_behind_a_long_item_is_stolen_by_another_thread()
    {
        var stage = Stages.New(2);
        Stages.Settle(stage);
        var stolen = 0;
        var others = Enumerable.Range(0, 200).Select(_ => new Item(_ => Interlocked.Increment(ref stolen))).ToArray();
        // A thief that looks early may empty the queue and park before the last posts; what is left then is not worth a wake (an item
        // counts as 1 us until one has been measured) and waits for the watch. The last post is in the poster's own place.
        var least = others.Length - (int)Worker.WakeWorthMicroseconds - 1;
        var ranWhileBlocked = false;
        stage.Post(new Item(_ =>
        {
            foreach (var other in others)
                stage.Post(other);
            ranWhileBlocked = Stages.ComesTrue(() => Volatile.Read(ref stolen) >= least);
        }));
        Stages.Until(() => others.All(other => other.Runs == 1));
        await Stages.Stop(stage);
        Assert.True(ranWhileBlocked);
        Assert.True(stage.Counters.Steals >= least);
    }

    [Fact]
    public async Task The_watch_frees_the_item_that_a_long_one_keeps_next()
    {
        var stage = Stages.New(2);
        Stages.Settle(stage);
        using var begun = new ManualResetEventSlim();
        using var freed = new ManualResetEventSlim();
        stage.Post(new Item(_ =>
        {
            stage.Post(new Item(_ => freed.Set()));
            begun.Set();
            Assert.True(freed.Wait(Stages.Patience));
        }));
        Assert.True(begun.Wait(Stages.Patience));
        Stages.Until(() =>
        {
            stage.Watch();
            return freed.IsSet;
        });
        await Stages.Stop(stage);
    }

    [Fact]
    public async Task The_watch_counts_the_threads_that_one_item_holds()
    {
        var stage = Stages.New(3);
        Stages.Settle(stage);
        using var begun = new CountdownEvent(2);
        using var end = new ManualResetEventSlim();
        for (var i = 0; i < 2; i++)
        {
            stage.Post(new Item(_ =>
            {
                begun.Signal();
                Assert.True(end.Wait(Stages.Patience));
            }));
        }

        Assert.True(begun.Wait(Stages.Patience));
        stage.Watch();
        stage.Watch();
        Assert.Equal(2, stage.Usage.Held);
        end.Set();
        Stages.Settle(stage);
        stage.Watch();
        Assert.Equal(0, stage.Usage.Held);
        await Stages.Stop(stage);
    }

    [Fact]
    public async Task A_thread_that_ends_leaves_its_counts()
    {
        var stage = Stages.New(3);
        var items = Enumerable.Range(0, 1000).Select(_ => new Item()).ToArray();
        foreach (var item in items)
            stage.Post(item);
        Stages.Until(() => items.All(item => item.Runs == 1));
        Stages.Settle(stage);
        var before = stage.Usage;
        stage.SetThreads(1);
        var after = stage.Usage;
        Assert.Equal((1000, before.Busy), (after.Executed, after.Busy));
        Stages.Settle(stage);
        Assert.Equal((1000, before.Busy), (stage.Usage.Executed, stage.Usage.Busy));
        await Stages.Stop(stage);
    }

    [Fact]
    public async Task A_post_to_a_sleeping_stage_wakes_one_thread_only()
    {
        var stage = Stages.New(4);
        Stages.Settle(stage);
        using var done = new ManualResetEventSlim();
        stage.Post(new Item(_ => done.Set()));
        Assert.True(done.Wait(Stages.Patience));
        Stages.Settle(stage);
        Assert.Equal(1, stage.Counters.Wakes);
        Assert.Equal(0, stage.Counters.EmptyWakes);
        await Stages.Stop(stage);
    }

    [Fact]
    public async Task A_thread_pauses_before_it_parks()
    {
        var pauses = 0;
        var pausesAtItem = -1;
        var stage = Stages.New(1, () => Interlocked.Increment(ref pauses));
        Stages.Settle(stage);
        stage.Post(new Item(_ => pausesAtItem = Volatile.Read(ref pauses)));
        Stages.Until(() => Volatile.Read(ref pausesAtItem) >= 0);
        Stages.Settle(stage);
        Assert.True(Volatile.Read(ref pauses) > pausesAtItem);
        await Stages.Stop(stage);
    }

    [Fact]
    public async Task A_thread_that_never_runs_out_of_items_pauses_too()
    {
        var pauses = 0;
        var stage = Stages.New(1, () => Interlocked.Increment(ref pauses));
        Stages.Settle(stage);
        var before = Volatile.Read(ref pauses);
        var during = 0;
        var item = new Item(self =>
        {
            if (self.Runs < 1000)
                stage.Post(self);
            else
                during = Volatile.Read(ref pauses) - before;
        });
        stage.Post(item);
        Stages.Until(() => item.Runs == 1000);
        await Stages.Stop(stage);
        Assert.InRange(during, 1000 / 70, 1000);
    }
}
