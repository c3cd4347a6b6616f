namespace ActOp.Staging.Tests;

public sealed class BorrowingTests
{
    [Fact]
    public async Task A_borrower_runs_its_items_itself_and_wakes_nobody()
    {
        var stage = Stages.New(2);
        Stages.Settle(stage);
        var thread = -1;
        using (var run = stage.Borrow())
        {
            Assert.True(run.IsHeld);
            stage.Post(new Item(_ => thread = Environment.CurrentManagedThreadId));
            Assert.Equal(-1, thread);
        }

        Assert.Equal(Environment.CurrentManagedThreadId, thread);
        Assert.Equal(0, stage.Counters.Wakes);
        Assert.True(stage.IsAsleep);
        await Stages.Stop(stage);
    }

    [Fact]
    public async Task A_busy_stage_lends_nothing()
    {
        var stage = Stages.New(1);
        Stages.Settle(stage);
        using (var run = stage.Borrow())
        {
            Assert.True(run.IsHeld);
            var other = true;
            // No await: the borrower must stay on its thread.
            var thread = new Thread(() =>
            {
                using var second = stage.Borrow();
                other = second.IsHeld;
            });
            thread.Start();
            thread.Join();
            Assert.False(other);
            using var inner = stage.Borrow();
            Assert.False(inner.IsHeld);
        }

        await Stages.Stop(stage);
    }

    [Fact]
    public async Task A_borrower_leaves_an_endless_run_to_the_stage()
    {
        var stage = Stages.New(1);
        Stages.Settle(stage);
        var here = 0;
        var thread = Environment.CurrentManagedThreadId;
        var item = new Item(self =>
        {
            here += Environment.CurrentManagedThreadId == thread ? 1 : 0;
            if (self.Runs < 5000)
                stage.Post(self);
        });
        using (var run = stage.Borrow())
        {
            Assert.True(run.IsHeld);
            stage.Post(item);
        }

        Stages.Until(() => item.Runs == 5000);
        await Stages.Stop(stage);
        Assert.InRange(here, 1, 512);
    }

    [Fact]
    public async Task A_borrower_pauses_after_its_items()
    {
        var log = new List<string>();
        var thread = Environment.CurrentManagedThreadId;
        var stage = Stages.New(1, () =>
        {
            if (Environment.CurrentManagedThreadId == thread)
                log.Add("pause");
        });
        Stages.Settle(stage);
        using (var run = stage.Borrow())
        {
            Assert.True(run.IsHeld);
            Assert.True(Stage.WillPause);
            stage.Post(new Item(_ => log.Add("item")));
        }

        Assert.False(Stage.WillPause);
        // One pause or two: after an item before which the borrower has lost its processor there is one at once.
        Assert.Equal("pause", log[^1]);
        Assert.Single(log, "item");
        await Stages.Stop(stage);
    }

    [Fact]
    public async Task Items_of_a_borrowed_place_survive_its_removal()
    {
        var stage = Stages.New(2);
        Stages.Settle(stage);
        var items = Enumerable.Range(0, 300).Select(_ => new Item()).ToArray();
        using (var run = stage.Borrow())
        {
            Assert.True(run.IsHeld);
            foreach (var item in items)
                stage.Post(item);
            stage.SetThreads(1);
            stage.SetThreads(3);
            stage.SetThreads(1);
        }

        Stages.Until(() => items.All(item => item.Runs == 1));
        await Stages.Stop(stage);
        Assert.All(items, item => Assert.Equal(1, item.Runs));
    }

    [Fact]
    public async Task A_stage_that_stops_gets_its_lent_place_back()
    {
        var stage = Stages.New(1);
        Stages.Settle(stage);
        var item = new Item();
        Task stopping;
        using (var run = stage.Borrow())
        {
            Assert.True(run.IsHeld);
            stopping = stage.StopAsync();
            stage.Post(item);
        }

        await stopping.WaitAsync(Stages.Patience);
        Assert.Equal(1, item.Runs);
    }

    [Fact]
    public async Task Borrowers_and_posters_lose_nothing_and_never_exceed_the_number_of_threads()
    {
        const int Threads = 2;
        var stage = Stages.New(Threads);
        var occupancy = new Occupancy();
        var items = Enumerable.Range(0, 40_000).Select(_ => new Item(occupancy.Run)).ToArray();
        var workers = Enumerable.Range(0, 4).Select(part => Task.Run(() =>
        {
            for (var index = part; index < items.Length; index += 4)
            {
                using var run = part < 2 ? stage.Borrow() : default;
                stage.Post(items[index]);
            }
        }));
        await Task.WhenAll(workers);
        await Stages.Stop(stage);
        Assert.All(items, item => Assert.Equal(1, item.Runs));
        Assert.InRange(occupancy.Most, 1, Threads);
    }

    [Fact]
    public async Task A_stage_whose_items_block_is_not_borrowed_for_a_while()
    {
        var stage = Stages.New(2);
        using var never = new ManualResetEventSlim();
        var refused = false;
        // The pause doubles each time, so that it outlasts any delay between two tries.
        for (var tries = 0; tries < 20 && !refused; tries++)
        {
            Stages.Settle(stage);
            using var run = stage.Borrow();
            refused = !run.IsHeld;
            if (!refused)
                stage.Post(new Item(_ => never.Wait(4)));
        }

        Assert.True(refused);
        await Stages.Stop(stage);
    }
}
