using ActOp.Harness.Load;
using HaloPresence.Bench;
using HaloPresence.Bench.Load;

namespace HaloPresence.Tests;

public sealed class LoadTests
{
    private static readonly HaloOptions Options = new() { Players = 400, Rate = 500, Warmup = 20, Measure = 60, Churn = 67 };

    [Theory]
    [InlineData(10)]
    [InlineData(5000)]
    public void Poisson_arrivals_keep_their_rate_and_spread(double rate)
    {
        const int Count = 100_000;
        var arrivals = new PoissonArrivals(rate, TimeSpan.FromSeconds(5), 1);
        double last = 5;
        double squares = 0;
        for (var i = 0; i < Count; i++, arrivals.Pass())
        {
            var gap = arrivals.Next.TotalSeconds - last;
            Assert.True(gap >= 0);
            squares += gap * gap;
            last = arrivals.Next.TotalSeconds;
        }
        Assert.InRange(Count / (last - 5), 0.98 * rate, 1.02 * rate);
        // Exponential gaps: the mean square is twice the square of the mean.
        Assert.InRange(squares / Count * rate * rate, 1.9, 2.1);
    }

    [Fact]
    public void A_ramp_raises_the_rate_in_a_straight_line()
    {
        const double Rate = 20_000;
        var arrivals = new PoissonArrivals(Rate, TimeSpan.FromSeconds(5), 1, TimeSpan.FromSeconds(10));
        var counts = new int[12];
        for (; arrivals.Next.TotalSeconds < 17; arrivals.Pass())
            counts[(int)(arrivals.Next.TotalSeconds - 5)]++;
        for (var second = 0; second < counts.Length; second++)
        {
            var expected = Math.Min(Rate, Rate * (second + 0.5) / 10);
            Assert.InRange(counts[second], expected - (5 * Math.Sqrt(expected)), expected + (5 * Math.Sqrt(expected)));
        }
    }

    [Fact]
    public void Requests_that_an_open_loop_uses_again_keep_their_own_starts_and_outcomes()
    {
        var clock = new VirtualClock();
        var answers = new List<TaskCompletionSource<int>>();
        var (latency, tally) = (new LatencyHistogram(), new RequestTally());
        var loop = new OpenLoop(clock, Ask, maxOutstanding: 3);
        var arrivals = new PoissonArrivals(0.01, TimeSpan.Zero, 1);
        var starts = new List<TimeSpan>();
        TimeSpan longest = default;
        for (var round = 0; round < 2; round++)
        {
            for (var i = 0; i < 3; i++)
            {
                starts.Add(arrivals.Next);
                clock.WaitUntil(arrivals.Next);
                loop.SendDue(arrivals, clock.Now, TimeSpan.MaxValue, latency, tally);
            }
            Assert.Equal(3, loop.Outstanding);
            // The last one first, and one of them in vain.
            answers[^1].SetResult(1);
            answers[^2].SetException(new InvalidOperationException("no"));
            clock.Add(TimeSpan.FromSeconds(1));
            answers[^3].SetResult(2);
            Assert.Equal(0, loop.Outstanding);
            longest = Max(longest, clock.Now - starts[^3]);
        }
        Assert.Equal((4, 6, 2), (tally.Answered, tally.Messages, tally.Errors));
        Assert.Equal(4, latency.Count);
        Assert.Equal(longest, latency.Max);

        static TimeSpan Max(TimeSpan one, TimeSpan other) => one > other ? one : other;

        ValueTask<int> Ask()
        {
            answers.Add(new TaskCompletionSource<int>());
            return new ValueTask<int>(answers[^1].Task);
        }
    }

    [Fact]
    public void An_open_loop_sends_the_configured_rate_of_eighteen_messages_each_and_no_error()
    {
        var target = new RehearsalTarget();
        var last = new LoadClient(Options, target, new VirtualClock(), _ => { }).Run(default);
        Assert.Equal(LoadPhase.Done, last.Phase);
        Assert.Equal(0, last.Errors);
        Assert.Equal(0, last.Alone);
        Assert.InRange(last.Requests, 0.97 * 500 * 60, 1.03 * 500 * 60);
        Assert.Equal(18 * last.Requests, last.Messages);
        Assert.Equal(target.PlayingCount, 8 * target.GameCount);
    }

    [Fact]
    public void The_same_seed_sends_the_same_requests()
    {
        Assert.Equal(Asked(Options), Asked(Options));
        Assert.NotEqual(Asked(Options), Asked(Options with { Seed = 2 }));
    }

    [Fact]
    public void A_stall_shows_in_every_request_that_it_delays()
    {
        var clock = new VirtualClock();
        var target = new FakeTarget(clock) { StallAt = 15_000, Stall = TimeSpan.FromSeconds(2) };
        var last = new LoadClient(Options, target, clock, _ => { }).Run(default);
        var latency = LatencyHistogram.FromPairs(last.Histogram!);
        // One call took 2 s; the thousand requests due meanwhile waited 1 s on average.
        var waited = 1 - latency.Distribution().Last(point => point.Milliseconds < 100).Share;
        Assert.InRange(waited * latency.Count, 850, 1050);
        Assert.InRange(latency.Max.TotalSeconds, 1.99, 2.1);
        Assert.InRange(last.MaxLagMs, 1900, 2100);
    }

    [Fact]
    public void Failing_requests_are_counted_with_their_text()
    {
        var clock = new VirtualClock();
        var target = new FakeTarget(clock) { Failure = new TimeoutException("grain x did not answer") };
        var last = new LoadClient(Options, target, clock, _ => { }).Run(default);
        Assert.Equal(0, last.Requests);
        Assert.Equal(target.Players.Count, last.Errors);
        Assert.Contains(last.ErrorTexts, text => text.Contains("grain x did not answer", StringComparison.Ordinal));
    }

    [Fact]
    public void Requests_beyond_the_limit_in_flight_and_unanswered_ones_are_errors()
    {
        var clock = new VirtualClock();
        var target = new FakeTarget(clock) { NeverAnswers = true };
        var last = new LoadClient(Options with { MaxOutstanding = 100 }, target, clock, _ => { }).Run(default);
        Assert.Equal(0, last.Requests);
        Assert.Equal(100, target.Players.Count);
        Assert.Contains(last.ErrorTexts, text => text.Contains("rejected", StringComparison.Ordinal));
        Assert.Contains(last.ErrorTexts, text => text.StartsWith("100 x no answer", StringComparison.Ordinal));
    }

    [Fact]
    public void Reports_go_through_the_phases_in_order()
    {
        var phases = new List<LoadPhase>();
        new LoadClient(Options, new RehearsalTarget(), new VirtualClock(), report => phases.Add(report.Phase)).Run(default);
        Assert.Equal([LoadPhase.Setup, LoadPhase.Warmup, LoadPhase.Measure, LoadPhase.Saturate], phases.Distinct());
        Assert.Equal(phases.Order(), phases);
        Assert.True(phases.Count > 70);
    }

    private static List<long> Asked(HaloOptions options)
    {
        var clock = new VirtualClock();
        var target = new FakeTarget(clock);
        new LoadClient(options, target, clock, _ => { }).Run(default);
        return target.Players;
    }

    private sealed class FakeTarget(VirtualClock clock) : ILoadTarget
    {
        public List<long> Players { get; } = [];

        public int StallAt { get; init; } = -1;

        public TimeSpan Stall { get; init; }

        public Exception? Failure { get; init; }

        public bool NeverAnswers { get; init; }

        public ValueTask<int> RequestStatus(long player)
        {
            Players.Add(player);
            if (Players.Count == StallAt)
                clock.Add(Stall);
            if (Failure is not null)
                throw Failure;
            return NeverAnswers ? new ValueTask<int>(new TaskCompletionSource<int>().Task) : new ValueTask<int>(18);
        }

        public ValueTask StartGame(long game, long[] players) => default;

        public ValueTask EndGame(long game) => default;

        public ValueTask Depart(long player) => default;

        public ValueTask DisposeAsync() => default;
    }
}
