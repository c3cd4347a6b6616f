using ActOp.Harness.Load;

namespace Heartbeat.Bench.Load;

/// <summary>
/// Drives the load of a cell: wakes all grains, goes through the segments, then, if asked, searches for the peak. Bounded in time by its
/// schedule.
/// </summary>
public sealed class BeatClient
{
    private static readonly TimeSpan DrainLimit = TimeSpan.FromSeconds(2);

    /// <summary>Seconds of the longest search for a peak.</summary>
    public static readonly double LongestPeakSearch = PeakSearch.MaxAttempts * (PeakStepSeconds + DrainLimit.TotalSeconds);

    private const int SetupConcurrency = 64;
    private const double PeakStepSeconds = 2;
    private const int SeedConcurrency = 64;

    /// <summary>The search begins at this share of what a closed loop moves.</summary>
    private const double SeedShare = 0.25;
    private static readonly TimeSpan ReportPeriod = TimeSpan.FromSeconds(1);
    private readonly HeartbeatOptions _options;
    private readonly CellOptions _cell;
    private readonly IBeatTarget _target;
    private readonly IClock _clock;
    private readonly Action<BeatReport> _report;
    private readonly Func<double> _cpuSeconds;
    private readonly BeatSource _source;
    private readonly OpenLoop _openLoop;
    private readonly List<SegmentRun> _runs = [];
    private PeakStep[] _peakSteps = [];
    private TimeSpan _nextReport;
    private int _entries;
    private bool _isDone;

    /// <summary>
    /// Creates the client; <paramref name="report"/> is called about once a second from the pacing thread, <paramref name="cpuSeconds"/>
    /// says the processor time of this process so far.
    /// </summary>
    public BeatClient(
        HeartbeatOptions options, CellOptions cell, IBeatTarget target, IClock clock, Action<BeatReport> report,
        Func<double>? cpuSeconds = null)
    {
        _options = options;
        _cell = cell;
        _target = target;
        _clock = clock;
        _report = report;
        _cpuSeconds = cpuSeconds ?? (static () => 0);
        _source = new BeatSource(options, cell);
        _openLoop = new OpenLoop(clock, Ask, options.MaxOutstanding);
    }

    /// <summary>Runs to the end on the calling thread and returns the last report.</summary>
    public BeatReport Run(CancellationToken cancellation)
    {
        WakeAll().GetAwaiter().GetResult();
        var number = 0;
        foreach (var segment in Schedule.Parse(_cell.Schedule))
        {
            if (segment.Rate > 0)
                RunOpen(segment, _options.Seed + 2 + number++, cancellation);
            else if (segment.Concurrency > 0)
                RunClosed(segment, cancellation);
            else
                Rest(_clock.Now + TimeSpan.FromSeconds(segment.Seconds), cancellation);
        }
        if (_runs.Count > 0)
            _openLoop.Drain(DrainLimit, _runs[^1].Tally, cancellation);
        if (_cell.FindPeak)
            _peakSteps = FindPeak(cancellation);
        _isDone = true;
        return Report();
    }

    private PeakStep[] FindPeak(CancellationToken cancellation)
    {
        var moved = RunClosed(new Segment("peak", PeakStepSeconds, 0, SeedConcurrency), cancellation);
        return PeakSearch.Run(Math.Max(1, SeedShare * moved), rate =>
        {
            var run = RunOpen(new Segment("peak", PeakStepSeconds, rate), _options.Seed + 2, cancellation);
            var taken = (_clock.Now - run.From).TotalSeconds;
            var inFlight = _openLoop.Outstanding;
            _openLoop.Drain(DrainLimit, run.Tally, cancellation);
            return PeakStep.Of(rate, PeakStepSeconds, taken, run.Tally.Answered, inFlight);
        });
    }

    /// <summary>Every grain is active before the load begins, and none of its calls blocks.</summary>
    private async Task WakeAll() => await Parallel.ForAsync(
        0L, _options.Clients, new ParallelOptions { MaxDegreeOfParallelism = SetupConcurrency },
        async (client, _) => await _target.Send(new Beat(client, 0, false, 0, 0)).ConfigureAwait(false)).ConfigureAwait(false);

    private SegmentRun Begin(Segment segment)
    {
        var run = new SegmentRun(segment, _clock.Now, _cpuSeconds());
        _runs.Add(run);
        Volatile.Write(ref _entries, segment.Entries);
        ReportNow();
        return run;
    }

    private SegmentRun RunOpen(Segment segment, int seed, CancellationToken cancellation)
    {
        var run = Begin(segment);
        var until = run.From + TimeSpan.FromSeconds(segment.Seconds);
        var arrivals = new PoissonArrivals(segment.Rate, run.From, seed);
        while (true)
        {
            var now = _clock.Now;
            _openLoop.SendDue(arrivals, now, until, run.Latency, run.Tally);
            ReportWhenDue();
            if (now >= until)
            {
                run.End(_cpuSeconds());
                return run;
            }
            Wait(arrivals.Next < until ? arrivals.Next : until, cancellation);
        }
    }

    private double RunClosed(Segment segment, CancellationToken cancellation)
    {
        var run = Begin(segment);
        var until = run.From + TimeSpan.FromSeconds(segment.Seconds);
        var loop = new ClosedLoop(_clock, Ask, segment.Concurrency);
        run.Closed = loop;
        loop.Start(until);
        while (_clock.Now < until)
            Wait(until, cancellation);
        run.End(_cpuSeconds());
        for (var limit = until + DrainLimit; !loop.IsIdle && _clock.Now < limit;)
            Wait(_clock.Now + TimeSpan.FromMilliseconds(1), cancellation);
        return loop.Tally.Answered / segment.Seconds;
    }

    /// <summary>What a level has left in flight is none of the next one's.</summary>
    private void Rest(TimeSpan until, CancellationToken cancellation)
    {
        while (_openLoop.Outstanding > 0 && _clock.Now < until)
            Wait(_clock.Now + TimeSpan.FromMilliseconds(1), cancellation);
    }

    private ValueTask<int> Ask() => _target.Send(_source.Next(Volatile.Read(ref _entries)));

    private void Wait(TimeSpan until, CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        ReportWhenDue();
        _clock.WaitUntil(until < _nextReport ? until : _nextReport);
    }

    private void ReportWhenDue()
    {
        if (_clock.Now >= _nextReport)
            ReportNow();
    }

    private void ReportNow()
    {
        _nextReport = _clock.Now + ReportPeriod;
        _report(Report());
    }

    private BeatReport Report()
    {
        var last = _runs.LastOrDefault();
        return new BeatReport
        {
            T = _clock.Now.TotalSeconds,
            Segment = last?.Segment.Name ?? "none",
            IsDone = _isDone,
            Answered = _runs.Sum(run => run.CountedBy.Answered),
            Errors = _runs.Sum(run => run.CountedBy.Errors),
            Outstanding = _openLoop.Outstanding,
            MaxLagMs = _openLoop.MaxLag.TotalMilliseconds,
            LatencyMs = last?.MeasuredBy.Summarize(),
            Segments = _isDone ? [.. _runs.Select(run => run.Report())] : [],
            PeakSteps = _peakSteps,
        };
    }
}

/// <summary>What the load is applied to: a silo, or a fake in tests. Called from several threads at once.</summary>
public interface IBeatTarget : IAsyncDisposable
{
    /// <summary>Sends a request; completes with its answer and returns the grain messages that it took.</summary>
    ValueTask<int> Send(Beat beat);
}

/// <summary>One request.</summary>
/// <param name="Client">The client whose grain is asked.</param>
/// <param name="Number">Number of the request; for an update the heartbeat's.</param>
/// <param name="IsRead">Whether the status is read instead of updated.</param>
/// <param name="Entries">Entries of history in the answer of a read.</param>
/// <param name="BlockMs">How long the call blocks its thread.</param>
/// <param name="ComputeUs">Microseconds of processor time that the call uses.</param>
public readonly record struct Beat(long Client, long Number, bool IsRead, int Entries, double BlockMs, double ComputeUs = 0);

/// <summary>Draws requests from a seed. Safe for concurrent use.</summary>
public sealed class BeatSource(HeartbeatOptions options, CellOptions cell)
{
    private readonly Random _random = new(options.Seed + 1);
    private long _number;

    /// <summary>The next request, with answers of so many entries.</summary>
    public Beat Next(int entries)
    {
        lock (_random)
        {
            var blocks = _random.NextDouble() * 100 < cell.BlockingPercent;
            var isRead = _random.Next(100) < options.ReadPercent;
            return new Beat(_random.Next(options.Clients), ++_number, isRead, entries, blocks ? options.BlockingMs : 0, cell.ComputeUs);
        }
    }
}
