using ActOp.Staging.Groups;

namespace ActOp.Staging.Tests.Groups;

/// <summary>The division of time by weights, in virtual time: no threads, no clock.</summary>
public sealed class ShareLevelTests
{
    private const double Quantum = 200;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(4)]
    public void Shares_of_1_2_4_get_time_in_proportion(int threads)
    {
        var run = new Run(threads, seed: 1);
        Competitor[] all = [run.Add(1, 50), run.Add(2, 500), run.Add(4, 5)];
        run.Until(1_000_000);
        var total = all.Sum(one => one.Used);
        for (var i = 0; i < all.Length; i++)
            Assert.InRange(all[i].Used / total * 7 / all[i].Share.Weight, 0.97, 1.03);
    }

    [Fact]
    public void No_lag_exceeds_one_quantum_and_the_longest_turn()
    {
        for (var seed = 0; seed < 300; seed++)
        {
            var run = new Run(threads: 1, seed);
            for (var i = 2 + run.Random.Next(20); i > 0; i--)
                run.Add(1 + run.Random.Next(100), Math.Pow(10, run.Random.NextDouble() * 4));
            run.Until(300_000, () => AssertLags(run, seed));
        }
    }

    [Fact]
    public void The_lags_add_up_to_zero_while_shares_come_and_go()
    {
        for (var seed = 0; seed < 100; seed++)
        {
            var run = new Run(threads: 1 + (seed % 3), seed);
            for (var i = 2 + run.Random.Next(20); i > 0; i--)
                run.Add(1 + run.Random.Next(100), 300);
            foreach (var one in run.All)
                one.RestsAfter = 1 + run.Random.Next(5);
            var before = 0.0;
            run.Until(300_000, () =>
            {
                var lags = run.All.Sum(one => run.Level.LagOf(one.Share));
                Assert.InRange(lags, -1e-3, 1e-3);
                Assert.True(run.Level.Now >= before, "Virtual time went back, seed " + seed + ".");
                before = run.Level.Now;
            });
        }
    }

    [Fact]
    public void A_new_weight_takes_nothing_and_gives_nothing_of_what_is_owed()
    {
        for (var seed = 0; seed < 100; seed++)
        {
            var run = new Run(threads: 1 + (seed % 3), seed);
            for (var i = 2 + run.Random.Next(20); i > 0; i--)
                run.Add(1 + run.Random.Next(100), 300);
            foreach (var one in run.All)
                one.RestsAfter = 1 + run.Random.Next(5);
            run.Until(300_000, () =>
            {
                // Waiting, running, resting and in debt: whoever it meets.
                var share = run.All[run.Random.Next(run.All.Count)].Share;
                var lag = run.Level.LagOf(share);
                run.Level.SetWeight(share, 1 + run.Random.Next(100));
                Assert.InRange(run.Level.LagOf(share) - lag, -1e-3, 1e-3);
                Assert.InRange(run.All.Sum(one => run.Level.LagOf(one.Share)), -1e-3, 1e-3);
            });
        }
    }

    [Fact]
    public void Time_is_divided_by_the_new_weights_from_the_change_on()
    {
        var run = new Run(threads: 2, seed: 1);
        Competitor[] all = [run.Add(1, 50), run.Add(2, 500), run.Add(4, 5)];
        run.Until(500_000);
        double[] before = [.. all.Select(static one => one.Used)];
        foreach (var (one, weight) in all.Zip([4.0, 2, 1]))
            run.Level.SetWeight(one.Share, weight);
        run.Until(1_500_000);
        double[] used = [.. all.Zip(before, static (one, was) => one.Used - was)];
        for (var i = 0; i < all.Length; i++)
            Assert.InRange(used[i] / used.Sum() * 7 / all[i].Share.Weight, 0.97, 1.03);
    }

    [Fact]
    public void A_share_that_comes_back_does_not_wait_for_others_longer_than_one_slice_and_gets_no_time_for_its_absence()
    {
        var run = new Run(threads: 1, seed: 1);
        var steady = run.Add(1, 100);
        run.Until(1_000_000);
        var late = run.Add(1, 100);
        run.Until(1_010_000);
        Assert.InRange(late.Used, 4_500, 5_500);
        Assert.InRange(steady.Used, 1_004_500, 1_005_500);
    }

    [Fact]
    public void A_debt_is_not_lost_by_a_pause()
    {
        var run = new Run(threads: 1, seed: 1);
        var honest = run.Add(1, 100);
        var greedy = run.Add(1, 50_000);
        greedy.RestsAfter = 1;
        run.Until(2_000_000);
        // It rests after each turn of up to 100 ms, and comes back at once.
        Assert.InRange(honest.Used / (honest.Used + greedy.Used), 0.46, 1);
    }

    [Fact]
    public void Credit_that_a_share_cannot_use_is_limited()
    {
        var run = new Run(threads: 2, seed: 1);
        var narrow = run.Add(1_000, 100);
        narrow.Width = 1;
        run.Add(1, 100);
        // Limited when it is charged; what others are charged until then comes on top. Without the limit it grows to 1,000,000.
        run.Until(1_000_000, () => Assert.InRange(run.Level.LagOf(narrow.Share), -1_000, 2 * run.Level.MostLag));
    }

    [Fact]
    public void The_cost_of_a_pick_grows_no_faster_than_the_logarithm_of_the_number_of_shares()
    {
        foreach (var count in (int[])[10, 100, 1_000, 10_000])
        {
            var run = new Run(threads: 2, seed: 1);
            for (var i = 0; i < count; i++)
                run.Add(1 + run.Random.Next(100), 100);
            run.Until(count * Quantum * 2);
            var (picks, steps) = (run.Picks, run.Level.Steps);
            run.Until(count * Quantum * 6);
            var cost = (run.Level.Steps - steps) / (double)(run.Picks - picks);
            TestContext.Current.TestOutputHelper?.WriteLine(count + " shares: " + cost.ToString("F1") + " comparisons a pick");
            Assert.InRange(cost, 1, 8 * Math.Log2(count));
        }
    }

    private static void AssertLags(Run run, int seed)
    {
        foreach (var one in run.All)
        {
            var lag = run.Level.LagOf(one.Share);
            Assert.True(Math.Abs(lag) <= Quantum + run.LongestTurn + 1e-6,
                "Lag " + lag + " with turns of up to " + run.LongestTurn + ", seed " + seed + ".");
        }
    }

    /// <summary>Threads that run turns of shares, in virtual time.</summary>
    private sealed class Run
    {
        private readonly PriorityQueue<(Competitor One, double Used), double> _running = new();
        private readonly int _threads;
        private double _now;

        internal Run(int threads, int seed)
        {
            _threads = threads;
            Random = new Random(seed);
        }

        internal Random Random { get; }

        internal ShareLevel Level { get; } = new(Quantum);

        internal List<Competitor> All { get; } = [];

        internal double LongestTurn { get; private set; }

        internal long Picks { get; private set; }

        internal Competitor Add(double weight, double meanTurn)
        {
            var one = new Competitor(weight, meanTurn);
            All.Add(one);
            Level.Wait(one.Share);
            return one;
        }

        internal void Until(double end, Action? check = null)
        {
            while (_now < end)
            {
                while (_running.Count < _threads && Level.Pick() is { } share)
                    Start((Competitor)share.Owner);
                if (!_running.TryDequeue(out var slice, out var at))
                    throw new InvalidOperationException("A thread has nothing to do although shares wait.");
                _now = at;
                End(slice.One, slice.Used);
                check?.Invoke();
            }
        }

        /// <summary>Whole turns until the quantum is over.</summary>
        private void Start(Competitor one)
        {
            Picks++;
            double used = 0;
            while (used < Quantum)
            {
                var turn = one.MeanTurn * 2 * Random.NextDouble();
                LongestTurn = Math.Max(LongestTurn, turn);
                used += turn;
            }

            if (one.Share.Running >= one.Width)
                Level.Rest(one.Share);
            _running.Enqueue((one, used), _now + used);
        }

        private void End(Competitor one, double used)
        {
            one.Used += used;
            var rests = ++one.Slices % one.RestsAfter == 0;
            // As a thread does that has more of the share: it waits before it is charged, and so keeps its credit.
            if (!rests)
                Level.Wait(one.Share);
            Level.Charge(one.Share, used);
            if (rests)
            {
                Level.Rest(one.Share);
                Return(one);
            }

            // What rests comes back after the next slice of another.
            void Return(Competitor rested)
            {
                foreach (var other in All)
                {
                    if (!ReferenceEquals(other, rested) && !other.Share.Waits && other.Share.Running < other.Width)
                        Level.Wait(other.Share);
                }

                if (!Level.HasWaiting)
                    Level.Wait(rested.Share);
            }
        }
    }

    private sealed class Competitor
    {
        internal Competitor(double weight, double meanTurn)
        {
            Share = new Share(weight, this);
            MeanTurn = meanTurn;
        }

        internal Share Share { get; }

        internal double MeanTurn { get; }

        /// <summary>Threads that it can use.</summary>
        internal int Width { get; set; } = int.MaxValue;

        internal int RestsAfter { get; set; } = int.MaxValue;

        internal int Slices { get; set; }

        internal double Used { get; set; }
    }
}
