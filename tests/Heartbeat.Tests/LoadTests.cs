using ActOp.Harness.Load;
using Heartbeat.Bench;
using Heartbeat.Bench.Load;
using Heartbeat.Bench.Runs;

namespace Heartbeat.Tests;

public sealed class LoadTests
{
    private static readonly HeartbeatOptions Options = new() { Clients = 100, ReadPercent = 30 };
    private static readonly Segment[] Segments = [new("warmup", 10, 500), new("measure", 40, 1000, Entries: 7)];
    private static readonly CellOptions Cell = new() { Schedule = Schedule.Print(Segments), BlockingPercent = 10, ComputeUs = 200 };

    [Fact]
    public void A_schedule_survives_the_way_to_the_child()
    {
        Segment[] segments = [.. Segments, new("peak", 1.5, 0, 256)];
        Assert.Equal(segments, Schedule.Parse(Schedule.Print(segments)));
        Assert.Throws<FormatException>(() => Schedule.Parse("warmup:3"));
    }

    [Fact]
    public void Every_segment_has_its_rate_and_every_grain_is_awake_before()
    {
        var target = new FakeTarget();
        var last = Run(Cell, target);
        Assert.True(last.IsDone);
        Assert.Equal(["warmup", "measure"], last.Segments.Select(segment => segment.Name));
        Assert.InRange(last.Segments[0].Requests, 4700, 5300);
        Assert.InRange(last.Segments[1].Requests, 39_000, 41_000);
        Assert.Equal(10, last.Segments[1].From - last.Segments[0].From, 1);
        Assert.All(last.Segments, segment => Assert.Equal(0, segment.Errors));
        Assert.Equal(Enumerable.Range(0, 100).Select(client => (long)client), target.Beats.Take(100).Select(beat => beat.Client).Order());
    }

    [Fact]
    public void Reads_blocking_calls_computing_and_large_answers_come_as_asked()
    {
        var target = new FakeTarget();
        Run(Cell, target);
        Beat[] beats = [.. target.Beats.Skip(100)];
        Assert.InRange(beats.Count(beat => beat.IsRead) / (double)beats.Length, 0.29, 0.31);
        Assert.InRange(beats.Count(beat => beat.BlockMs > 0) / (double)beats.Length, 0.09, 0.11);
        Assert.All(beats.Where(beat => beat.BlockMs > 0), beat => Assert.Equal(Options.BlockingMs, beat.BlockMs));
        Assert.All(beats, beat => Assert.Equal(200, beat.ComputeUs));
        Assert.All(target.Beats.Take(100), beat => Assert.Equal((0, 0), (beat.BlockMs, beat.ComputeUs)));
        Assert.Equal(7, beats[^1].Entries);
        Assert.Equal(0, beats[0].Entries);
    }

    [Fact]
    public void The_same_seed_sends_the_same_requests()
    {
        FakeTarget one = new(), same = new(), other = new();
        Run(Cell, one);
        Run(Cell, same);
        Run(Cell, other, Options with { Seed = 2 });
        Assert.Equal(one.Beats.Skip(100), same.Beats.Skip(100));
        Assert.NotEqual(one.Beats.Skip(100), other.Beats.Skip(100));
    }

    [Fact]
    public void A_silo_that_never_answers_ends_the_cell_in_time_and_in_errors()
    {
        var clock = new VirtualClock();
        var target = new FakeTarget { AnswersOnly = 100 };
        var last = Run(Cell, target, Options with { MaxOutstanding = 50 }, clock);
        Assert.InRange(clock.Now.TotalSeconds, 50, 55);
        Assert.Equal(0, last.Segments[1].Requests);
        Assert.Contains(last.Segments[1].ErrorTexts, text => text.Contains("rejected", StringComparison.Ordinal));
        Assert.Contains(last.Segments[1].ErrorTexts, text => text.StartsWith("50 x no answer", StringComparison.Ordinal));
    }

    [Fact]
    public void Several_clients_count_as_one()
    {
        var one = Run(Cell, new FakeTarget());
        var both = BeatReports.Merge([one, Run(Cell, new FakeTarget { AnswersOnly = 10_100 }, Options with { MaxOutstanding = 50 })]);
        Assert.Equal(["warmup", "measure"], both.Segments.Select(segment => segment.Name));
        Assert.Equal(2000, both.Segments[1].Rate);
        Assert.InRange(both.Segments[1].Requests, one.Segments[1].Requests + 4700, one.Segments[1].Requests + 5300);
        Assert.True(both.Segments[1].Errors > 30_000);
        Assert.Equal(both.Segments[1].Requests, LatencyHistogram.FromPairs(both.Segments[1].Histogram).Count);
    }

    [Fact]
    public void The_mean_of_a_histogram_is_that_of_its_values()
    {
        var histogram = new LatencyHistogram();
        Assert.Equal(TimeSpan.Zero, histogram.Mean);
        foreach (var value in (int[])[100, 200, 600])
            histogram.Record(TimeSpan.FromMicroseconds(value));
        Assert.InRange(histogram.Mean.TotalMicroseconds, 300, 303);
    }

    [Theory]
    [InlineData(3000)]
    [InlineData(40_000)]
    [InlineData(100_000)]
    public void The_search_finds_what_a_target_keeps_up_with(double limit)
    {
        var peak = PeakSearch.Peak(PeakSearch.Run(10_000, rate => Step(rate, limit)));
        Assert.InRange(peak, limit / 1.1, limit);
    }

    [Fact]
    public void A_hiccup_does_not_end_the_search()
    {
        var calls = 0;
        Assert.InRange(PeakSearch.Peak(PeakSearch.Run(10_000, rate => Step(rate, ++calls % 2 == 1 ? 0 : 40_000))), 40_000 / 1.1, 40_000);
    }

    [Fact]
    public void A_rate_that_is_answered_late_is_no_peak()
    {
        Assert.False(new PeakStep(1000, 1000, 200).KeptUp);
        Assert.False(new PeakStep(1000, 900, 1).KeptUp);
        Assert.True(new PeakStep(1000, 1000, 1).KeptUp);
    }

    [Fact]
    public void A_client_that_sends_late_or_leaves_requests_unanswered_does_not_keep_up()
    {
        Assert.True(PeakStep.Of(1000, 2, 2.001, 2000, 3).KeptUp);
        Assert.False(PeakStep.Of(1000, 2, 2.1, 2000, 0).KeptUp);
        Assert.False(PeakStep.Of(1000, 2, 2.001, 2000, 65).KeptUp);
        Assert.False(PeakStep.Of(1000, 2, 2.001, 1900, 0).KeptUp);
    }

    [Theory]
    [InlineData(3000)]
    [InlineData(12_000)]
    public void A_few_slow_requests_in_flight_are_no_backlog(double rate)
    {
        // At 3,000 requests/s 5 ms of arrivals are 15 requests.
        Assert.True(PeakStep.Of(rate, 2, 2.001, (long)(2 * rate), 64).KeptUp);
        Assert.False(PeakStep.Of(rate, 2, 2.001, (long)(2 * rate), 100).KeptUp);
        Assert.False(PeakStep.Of(rate, 2, 2.006, (long)(2 * rate), 64).KeptUp);
    }

    [Fact]
    public void Fast_requests_may_be_as_many_in_flight_as_arrive_in_five_ms()
    {
        Assert.True(PeakStep.Of(100_000, 2, 2, 200_000, 490).KeptUp);
        Assert.False(PeakStep.Of(100_000, 2, 2, 200_000, 510).KeptUp);
    }

    [Fact]
    public void A_rest_lasts_until_everything_is_answered_or_its_time_is_over()
    {
        Segment[] segments = [new("one", 1, 100), new("rest", 4, 0), new("two", 1, 100)];
        var cell = new CellOptions { Schedule = Schedule.Print(segments) };
        var answered = Run(cell, new FakeTarget());
        Assert.Equal(["one", "two"], answered.Segments.Select(segment => segment.Name));
        Assert.Equal(1, answered.Segments[1].From - answered.Segments[0].From, 1);
        var silent = Run(cell, new FakeTarget { AnswersOnly = 150 });
        Assert.Equal(5, silent.Segments[1].From - silent.Segments[0].From, 1);
        // What the first load left is counted where the load ends.
        Assert.Equal(0, silent.Segments[0].Errors);
        Assert.True(silent.Segments[1].Errors > 0);
    }

    [Fact]
    public void A_segment_says_what_the_load_client_itself_used()
    {
        var clock = new VirtualClock();
        var client = new BeatClient(Options, Cell, new FakeTarget(), clock, _ => { }, () => 0.25 * clock.Now.TotalSeconds);
        var last = client.Run(default);
        Assert.Equal([2.5, 10], last.Segments.Select(segment => Math.Round(segment.CpuSeconds, 2)));
        Assert.Equal(20, Math.Round(BeatReports.Merge([last, last]).Segments[1].CpuSeconds, 2));
        Assert.Equal(25.0 / Environment.ProcessorCount, CellRun.ClientPercent(last.Segments[1]), 1);
    }

    [Fact]
    public void The_search_is_bounded_for_a_target_without_limit_or_life()
    {
        Assert.InRange(PeakSearch.Run(1, rate => Step(rate, double.PositiveInfinity)).Length, 1, 12);
        var dead = PeakSearch.Run(10_000, rate => Step(rate, 0));
        Assert.InRange(dead.Length, 1, 12);
        Assert.Equal(0, PeakSearch.Peak(dead));
    }

    private static PeakStep Step(double rate, double limit) => new(rate, Math.Min(rate, limit), rate <= limit ? 1 : 500);

    private static BeatReport Run(CellOptions cell, FakeTarget target, HeartbeatOptions? options = null, VirtualClock? clock = null) =>
        new BeatClient(options ?? Options, cell, target, clock ?? new VirtualClock(), _ => { }).Run(default);

    private sealed class FakeTarget : IBeatTarget
    {
        private readonly Lock _lock = new();

        public List<Beat> Beats { get; } = [];

        public int AnswersOnly { get; init; } = int.MaxValue;

        public ValueTask<int> Send(Beat beat)
        {
            lock (_lock)
            {
                Beats.Add(beat);
                return Beats.Count <= AnswersOnly ? new ValueTask<int>(2) : new ValueTask<int>(new TaskCompletionSource<int>().Task);
            }
        }

        public ValueTask DisposeAsync() => default;
    }
}
