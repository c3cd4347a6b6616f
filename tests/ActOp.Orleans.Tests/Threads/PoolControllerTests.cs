using ActOp.Orleans.Threads;
using ActOp.Staging.Measuring;
using FsCheck;
using FsCheck.Fluent;

namespace ActOp.Orleans.Tests.Threads;

/// <summary>From samples to decisions, in virtual time.</summary>
public class PoolControllerTests
{
    private const double Processors = 2;
    private const int Floor = 2;

    [Fact]
    public void Items_that_block_get_their_threads_within_two_periods()
    {
        var run = new ControlledPool();
        // One in a millisecond, blocked for 10: ten threads are busy on average.
        run.Go(2, (pool, step) => pool.Add(0.0001, 0.01));
        Assert.InRange(run.Threads, 11, 64);
        Assert.Equal(0, run.Pool.Queued);
    }

    [Fact]
    public void The_first_decision_comes_before_the_period_ends_when_items_wait_for_threads()
    {
        var run = new ControlledPool();
        run.Go(0.3, (pool, step) => pool.Add(0.0001, 0.01));
        Assert.True(run.Threads > Floor, run.Reasons);
    }

    [Fact]
    public void Items_that_block_longer_than_a_period_are_replaced_and_those_behind_get_threads()
    {
        var run = new ControlledPool();
        run.Go(2, (pool, step) =>
        {
            if (step < 40)
                pool.Add(0.0001, 30);
        });
        Assert.InRange(run.Threads, 40, 45);
        Assert.Equal(0, run.Pool.Queued);
    }

    [Fact]
    public void Items_that_only_compute_get_no_more_threads_than_the_processors_bear()
    {
        var run = new ControlledPool();
        run.Go(10, Compute);
        Assert.InRange(run.Threads, Floor, 4);
    }

    [Fact]
    public void Threads_that_wait_for_the_lock_of_others_get_no_more_threads()
    {
        var run = new ControlledPool();
        // More than it can do: 143 items a second pass the lock, and use 1.4 of 2 processors.
        run.Go(60, (pool, step) => pool.Add(0.003, 0, locked: 0.007));
        Assert.True(run.Threads <= Floor + 2, run.Reasons);
    }

    [Fact]
    public void Threads_that_wait_for_the_lock_of_others_get_no_more_threads_although_a_processor_is_free()
    {
        var run = new ControlledPool();
        run.Go(60, Convoy);
        Assert.True(run.Threads <= Floor + 2, run.Reasons);
    }

    [Fact]
    public void Items_that_begin_to_block_get_their_threads_although_more_threads_brought_nothing_before()
    {
        var run = new ControlledPool();
        run.Go(3, (pool, step) => pool.Add(0.0002, 0, locked: 0.002));
        Assert.Contains("more brought nothing", run.Reasons, StringComparison.Ordinal);
        run.Go(9, (pool, step) =>
        {
            if (step % 5 == 0)
                pool.Add(0.0001, 0.3);
        });
        Assert.True(run.Threads >= 60, run.Reasons);
    }

    [Fact]
    public void Threads_that_the_garbage_collector_stops_get_no_more_threads()
    {
        var run = new ControlledPool();
        run.Go(60, Compute, paused: step => step % 10 < 4);
        Assert.True(run.Threads <= Floor + 2, run.Reasons);
        Assert.DoesNotContain("brought nothing", run.Reasons, StringComparison.Ordinal);
    }

    [Fact]
    public void Items_that_compute_and_block_get_threads_although_many_processors_are_in_use()
    {
        var run = new ControlledPool();
        // 1.4 processors in use, and 6 items blocked on average.
        run.Go(20, (pool, step) =>
        {
            if (step % 10 == 0)
                pool.Add(0.014, 0.06);
        });
        Assert.InRange(run.Threads, 7, 20);
        Assert.InRange(run.Pool.Queued, 0, 3);
    }

    [Fact]
    public void Threads_are_given_back_when_items_block_no_more()
    {
        var run = new ControlledPool();
        run.Go(5, (pool, step) => pool.Add(0.0001, 0.01));
        Assert.InRange(run.Threads, 11, 64);
        run.Go(70, (pool, step) => pool.Add(0.0001, 0));
        Assert.InRange(run.Threads, Floor, 4);
    }

    [Fact]
    public void A_constant_load_has_a_constant_number()
    {
        var run = new ControlledPool();
        run.Go(10, (pool, step) => pool.Add(0.0001, 0.01));
        var (threads, changes) = (run.Threads, run.Changes);
        run.Go(50, (pool, step) => pool.Add(0.0001, 0.01));
        Assert.Equal(changes, run.Changes);
        Assert.Equal(threads, run.Threads);
    }

    [Fact]
    public void A_decision_that_brought_nothing_is_not_repeated_before_the_period_ends()
    {
        var run = new ControlledPool();
        run.Go(10, Compute);
        Assert.InRange(run.Decisions, 9, 21);
    }

    [Fact]
    public void Without_ready_times_blocked_items_get_their_threads_too()
    {
        var controller = new PoolController(new ThreadOptions(), Processors, Floor, knowsReady: false);
        var threads = Floor;
        for (var period = 0; period < 2; period++)
        {
            for (var look = 0; look <= 50; look++)
                controller.Sample(new PoolReading((period * 200) + (look * 4), (period * 800) + (look * 16), 2), 0.02);
            // Two threads wrote off the whole second, and computed for a fiftieth of it.
            threads = controller.Decide(new RunTimes(0.02, 0, -1), new BusyTime(50 * (period + 1), 1000, 1000, 0), threads).Threads;
        }

        Assert.InRange(threads, 11, 64);
    }

    [Fact]
    public void No_decision_leaves_the_bounds()
    {
        var looks = from completed in Gen.Choose(0, 10_000)
                    from queued in Gen.Choose(0, 100_000)
                    from busy in Gen.Choose(0, 300)
                    from microseconds in Gen.Choose(0, 2_000_000)
                    from ran in Gen.Choose(0, 4_000_000)
                    from waited in Gen.Choose(0, 4_000_000)
                    from active in Gen.Choose(-1, 300)
                    select (completed, queued, busy, microseconds, ran, waited, active);
        Prop.ForAll(Arb.From(Gen.Choose(1, 40).SelectMany(floor => looks.ListOf().Select(list => (floor, list)))), run =>
        {
            var options = new ThreadOptions { MaxThreads = 30 };
            var controller = new PoolController(options, 1.5, run.floor, knowsReady: true);
            long completed = 0;
            var current = run.floor;
            foreach (var look in run.list)
            {
                completed += look.completed;
                controller.Sample(new PoolReading(completed, look.queued, look.busy), look.microseconds / 1e6);
                var decision = controller.Decide(new RunTimes(look.ran / 1e6, look.waited / 1e6, look.active), default, current);
                Assert.InRange(decision.Threads, run.floor, Math.Max(30, run.floor));
                Assert.InRange(controller.Sums.Ready, 0, controller.Sums.Wall + 1e-9);
                current = decision.Threads;
            }
        }).QuickCheckThrowOnFailure();
    }

    /// <summary>Twice what the processors can do, and nothing blocks.</summary>
    private static void Compute(SimulatedPool pool, int step)
    {
        for (var i = 0; i < 4; i++)
            pool.Add(0.001, 0);
    }

    /// <summary>Somewhat more than can be done: 500 items a second pass the lock, and use 1.1 processors.</summary>
    private static void Convoy(SimulatedPool pool, int step)
    {
        if (step % 2 == 0 || step % 50 == 1)
            pool.Add(0.0002, 0, locked: 0.002);
    }

    /// <summary>A controller at a simulated pool; a step is a millisecond.</summary>
    private sealed class ControlledPool
    {
        private const int StepsPerLook = 20;

        private readonly PoolController _controller = new(new ThreadOptions(), Processors, Floor, knowsReady: true);
        private readonly List<string> _reasons = [];
        private int _steps;

        internal SimulatedPool Pool { get; } = new(Processors);

        internal int Threads => Pool.Limits.Minimum;

        internal int Changes { get; private set; }

        internal int Decisions => _reasons.Count;

        internal string Reasons => string.Join('\n', _reasons);

        internal void Go(double seconds, Action<SimulatedPool, int> arrive, Func<int, bool>? paused = null)
        {
            for (var step = 0; step < seconds * 1000; step++)
            {
                arrive(Pool, step);
                if (paused?.Invoke(step) == true)
                    Pool.Pause(0.001);
                else
                    Pool.Run(0.001);
                if (++_steps % StepsPerLook == 0)
                    Sample();
            }
        }

        private void Sample()
        {
            _controller.Sample(Pool.Read(), StepsPerLook / 1000.0);
            if (!_controller.IsDue)
                return;
            var decision = _controller.Decide(Pool.TakeTimes()!.Value, default, Threads);
            Changes += decision.Threads == Threads ? 0 : 1;
            _reasons.Add(decision.Threads + ": " + decision.Reason);
            Pool.TrySet(Pool.Limits with { Minimum = decision.Threads });
        }
    }
}
