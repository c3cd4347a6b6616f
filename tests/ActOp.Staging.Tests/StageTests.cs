using System.Runtime.CompilerServices;

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
        var least = others.Length - (int)Tuning.WakeWorthMicroseconds - 1;
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
        // Once the item is known to be long, what it posts goes to the shared queue. A poster that loses its processor is known to be soon.
        var shared = stage.Counters.Posted - 1;
        Assert.InRange(stage.Counters.Steals, least - shared, others.Length);
    }

    [Fact]
    public async Task The_item_that_a_long_one_keeps_next_is_stolen()
    {
        var stage = Stages.New(2);
        Stages.Settle(stage);
        using var freed = new ManualResetEventSlim();
        var isFreed = false;
        stage.Post(new Item(_ =>
        {
            stage.Post(new Item(_ => freed.Set()));
            isFreed = freed.Wait(Stages.Patience);
        }));
        Stages.Until(() => freed.IsSet);
        await Stages.Stop(stage);
        Assert.True(isFreed);
    }

    /// <summary>F13: the mean time of an item says nothing of a burst of long ones.</summary>
    [Fact]
    public async Task Rare_bursts_of_long_items_run_at_the_same_time()
    {
        var stage = Stages.New(3);
        for (var i = 0; i < 2000; i++)
            stage.Post(new Item());
        Stages.Settle(stage);
        using var together = new Barrier(3);
        var met = 0;
        void Long(Item item)
        {
            if (together.SignalAndWait(Stages.Patience))
                Interlocked.Increment(ref met);
        }

        var burst = Enumerable.Range(0, 3).Select(_ => new Item(Long)).ToArray();
        stage.Post(new Item(_ =>
        {
            foreach (var item in burst)
                stage.Post(item);
        }));
        Stages.Until(() => burst.All(item => item.Runs == 1) && Volatile.Read(ref met) == 3);
        await Stages.Stop(stage);
    }

    [Fact]
    public async Task What_a_long_item_posts_after_it_is_known_to_be_long_wakes_another_thread_at_once()
    {
        var stage = Stages.New(2);
        Stages.Settle(stage);
        var ran = false;
        stage.Post(new Item(_ =>
        {
            Stages.Until(() => Worker.Current!.IsHeld);
            var posted = stage.Counters.Posted;
            var next = new Item();
            stage.Post(next);
            ran = stage.Counters.Posted == posted + 1 && Stages.ComesTrue(() => next.Runs == 1);
        }));
        Stages.Until(() => stage.Counters.Executed >= 2);
        await Stages.Stop(stage);
        Assert.True(ran);
    }

    /// <summary>F13: what earlier items left to the pause is done by others while a long item keeps the thread from it.</summary>
    [Fact]
    public async Task A_long_item_is_told_of_and_nothing_more_is_left_to_the_pause_inside_it()
    {
        using var told = new ManualResetEventSlim();
        var stage = Stages.New(1, static () => { }, told.Set);
        Stages.Settle(stage);
        var (before, wasHeld, isTold, after) = (false, true, false, true);
        stage.Post(new Item(_ =>
        {
            // In this order: a thread that has lost its processor meanwhile may find its item long already, and then says so.
            before = Stage.WillPause;
            wasHeld = Worker.Current!.IsHeld;
            isTold = told.Wait(Stages.Patience);
            after = Stage.WillPause;
        }));
        Stages.Until(() => stage.Counters.Executed == 1);
        await Stages.Stop(stage);
        Assert.True(before || wasHeld);
        Assert.True(isTold);
        Assert.False(after);
    }

    [Fact]
    public async Task Threads_that_one_item_holds_for_long_are_counted()
    {
        Stage? stage = null;
        var heldWhenFirstTold = -1;
        var (began, toldAfter) = (0L, TimeSpan.Zero);
        // Told when the first of the items is found to be long, by the thread that counts.
        stage = Stages.New(3, onHeld: () =>
        {
            if (Volatile.Read(ref heldWhenFirstTold) >= 0)
                return;
            var held = stage!.Usage.Held;
            toldAfter = TimeProvider.System.GetElapsedTime(began);
            Volatile.Write(ref heldWhenFirstTold, held);
        });
        Stages.Settle(stage);
        began = TimeProvider.System.GetTimestamp();
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
        Stages.Until(() => stage.Usage.Held == 2 && Volatile.Read(ref heldWhenFirstTold) >= 0);
        // A look that is late, since the machine stood still, finds items that were held for long already.
        Assert.True(heldWhenFirstTold == 0 || toldAfter.TotalMicroseconds >= StageMonitor.HeldMicroseconds);
        end.Set();
        Stages.Settle(stage);
        Stages.Until(() => stage.Usage.Held == 0);
        await Stages.Stop(stage);
    }

    [Fact]
    public async Task What_was_posted_before_the_stage_stops_is_run()
    {
        for (var round = 0; round < 500; round++)
        {
            var stage = Stages.New(1 + (round % 2));
            var item = new Item();
            stage.Post(item);
            await Stages.Stop(stage);
            Assert.Equal(1, item.Runs);
        }
    }

    /// <summary>A link, a grain or a call that an item belongs to must not live until other items have gone the same way.</summary>
    [Theory, InlineData(1, false), InlineData(2, false), InlineData(1, true)]
    public async Task An_item_that_has_run_is_not_kept_by_a_stage_at_rest(int threads, bool isBorrowed)
    {
        var stage = Stages.New(threads);
        Stages.Settle(stage);
        var items = new List<WeakReference>();
        Item PostingItem() => new(_ =>
        {
            for (var i = 0; i < 20; i++)
                items.Add(PostNew(stage));
        });
        if (isBorrowed)
        {
            using var run = stage.Borrow();
            stage.Post(PostingItem());
        }
        else
        {
            stage.Post(PostingItem());
        }

        Stages.Until(() => stage.Counters.Executed == 21);
        AssertAreGone(items, stage);
        await Stages.Stop(stage);
    }

    [Fact]
    public async Task A_thread_out_of_service_keeps_no_item()
    {
        var stage = Stages.New(2);
        Stages.Settle(stage);
        var items = new List<WeakReference>();
        using var begun = new CountdownEvent(2);
        using var goOn = new ManualResetEventSlim();
        for (var thread = 0; thread < 2; thread++)
        {
            stage.Post(new Item(_ =>
            {
                begun.Signal();
                Assert.True(goOn.Wait(Stages.Patience));
                lock (items)
                {
                    for (var i = 0; i < 20; i++)
                        items.Add(PostNew(stage));
                }
            }));
        }

        Assert.True(begun.Wait(Stages.Patience));
        stage.SetThreads(1);
        goOn.Set();
        Stages.Until(() => stage.Counters.Executed == 42);
        AssertAreGone(items, stage);
        await Stages.Stop(stage);
    }

    [Fact]
    public async Task A_stage_that_has_stopped_starts_no_threads()
    {
        var stage = Stages.New(1);
        await Stages.Stop(stage);
        stage.SetThreads(4);
        Assert.Equal(1, stage.Threads);
        Assert.Single(stage.Workers);
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
        // A thread of its own: one of the pool would run the item itself.
        var poster = new Thread(() => stage.Post(new Item(_ => done.Set())));
        poster.Start();
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

    /// <summary>The stage rests, and keeps none of the items.</summary>
    private static void AssertAreGone(List<WeakReference> items, Stage stage)
    {
        Stages.Settle(stage);
        Stages.Until(() =>
        {
            GC.Collect();
            return items.TrueForAll(static item => !item.IsAlive);
        });
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference PostNew(Stage stage)
    {
        var item = new Item();
        stage.Post(item);
        return new WeakReference(item);
    }
}
