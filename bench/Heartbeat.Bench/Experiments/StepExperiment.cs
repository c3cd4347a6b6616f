using System.CommandLine;
using System.Globalization;
using ActOp.Harness.Load;
using ActOp.Harness.Reports;
using Heartbeat.Bench.Load;
using Heartbeat.Bench.Runs;
using Heartbeat.Bench.Silos;

namespace Heartbeat.Bench.Experiments;

/// <summary>Steps of the load: from 20 to 80 percent of the peak and back, then large replies, which load whoever writes them.</summary>
public sealed class StepExperiment() : Experiment(new HeartbeatOptions { MaxOutstanding = 2000 })
{
    private const double LowShare = 0.2;
    private const double HighShare = 0.8;
    private const int MostEntries = 1_000_000;
    private readonly Option<Allocation[]> _allocations = ListOption.OfNames(
        "--allocations", "What to look at.", Allocation.Model, Allocation.QueueLength);
    private readonly WorkChoice _work = new();
    private readonly Option<double> _hold =
        new("--hold") { Description = "Seconds between steps, 1 to 3600.", DefaultValueFactory = _ => 8 };
    private readonly Option<int> _entries =
        new("--reply-entries") { Description = "Entries of history in a large reply, 0 to 1000000.", DefaultValueFactory = _ => 20_000 };
    private readonly Option<double> _replyRate =
        new("--reply-rate")
        {
            Description = "Requests per second while replies are large, above 0 to 1000000; half of them read.",
            DefaultValueFactory = _ => 3000
        };

    /// <inheritdoc/>
    protected override IEnumerable<Option> OwnOptions => [_allocations, .. _work.Options, _hold, _entries, _replyRate];

    /// <summary>The segments for a peak.</summary>
    public static Segment[] Segments(double warmup, double hold, double peak, double replyRate, int entries) =>
    [
        CellRunner.Compile,
        new(SegmentNames.Warmup, warmup, LowShare * peak),
        new("low", hold, LowShare * peak),
        new("high", hold, HighShare * peak),
        new("low again", hold, LowShare * peak),
        new("large replies", hold, replyRate, Entries: entries),
        new("small replies", hold, LowShare * peak),
    ];

    /// <inheritdoc/>
    protected override string? FindError(ParseResult parsed)
    {
        if (_work.FindError(parsed) is { } error) return error;
        if (parsed.GetValue(_hold) is not (>= 1 and <= 3600)) return $"--hold must be 1 to 3600 seconds, not {parsed.GetValue(_hold)}.";
        if (parsed.GetValue(
            _entries) is < 0 or > MostEntries)
        {
            return $"--reply-entries must be 0 to {MostEntries}, not {parsed.GetValue(_entries)}.";
        }

        if (parsed.GetValue(_replyRate) is not (> 0 and <= 1_000_000)) return $"--reply-rate must be above 0 and at most 1000000 requests per second, not {parsed.GetValue(_replyRate)}.";
        return null;
    }

    /// <inheritdoc/>
    protected override async Task RunAsync(ParseResult parsed, CellRunner runner)
    {
        var high = await _work.RateAsync(parsed, runner, LoadLevel.High).ConfigureAwait(false);
        var segments = Segments(
            runner.Options.Warmup, parsed.GetValue(_hold), high / LoadShare.Of(LoadLevel.High), parsed.GetValue(_replyRate),
                parsed.GetValue(_entries));
        var results = new List<StepResult>();
        foreach (var allocation in parsed.GetValue(_allocations)!)
        {
            var cell = _work.Cell(parsed) with { Allocation = allocation, Schedule = Schedule.Print(segments) };
            results.Add(
                StepResult.Of(allocation, await runner.RunAsync(ListOption.Camel(allocation.ToString()), cell).ConfigureAwait(false)));
        }
        TextTable.Print(Titles, Rows(results));
        Console.WriteLine(Note(runner.Options));
        Write(parsed, results, () => Render(runner.Options, results));
    }

    /// <summary>The report.</summary>
    public static string Render(HeartbeatOptions options, IReadOnlyList<StepResult> results)
    {
        var page = new HtmlPage("Heartbeat: steps of the load").Table(Titles, Rows(results)).Paragraph(Note(options));
        foreach (var result in results)
        {
            var name = ListOption.Camel(result.Allocation.ToString());
            page.Figure(Chart(result, "Threads of the stages: " + name, ("receive", p => p.Threads.Receive), ("work", p => p.Threads.Work),
                ("silo send", p => p.Threads.SiloSend), ("client send", p => p.Threads.ClientSend)));
            page.Figure(Chart(result, "Requests per second asked for: " + name, ("rate", p => p.Rate)));
        }
        return page.End(results);
    }

    private static readonly string[] Titles =
        ["allocation", "load", "requests/s", "answered/s", "p50 ms", "p99 ms", "errors", "CPU %", "threads at end", "changes",
            "s to last change"];

    private static IEnumerable<string[]> Rows(IReadOnlyList<StepResult> results) =>
        from result in results
        from segment in result.Segments
        select (string[])
        [
            ListOption.Camel(result.Allocation.ToString()),
            segment.Name,
            Text(segment.Rate, "N0"),
            Text(segment.Requests / segment.Seconds, "N0"),
            Text(segment.LatencyMs.P50, "0.00"),
            Text(segment.LatencyMs.P99, "0.00"),
            Text(segment.Errors, "N0"),
            Text(segment.CpuPercent, "0"),
            segment.Threads.ToString(),
            Text(segment.Changes, "0"),
            segment.Changes == 0 ? "-" : Text(segment.SecondsToLastChange, "0.0"),
        ];

    private static string Note(HeartbeatOptions options) => FormattableString.Invariant(
        $"Threads are receive/work/silo send/client send, sampled every 0.25 s. queueLength decides every {options.QueuePeriod:0.##} s (paper: 30 s). Large replies: half of the requests read a long history; turns may write their own replies, and then work, not client send, is what they load.");

    private static string Chart(StepResult result, string title, params (string Name, Func<StepPoint, double> Value)[] lines) =>
        new SvgChart
        {
            Title = title,
            XLabel = "seconds since the load began",
            Series = [.. lines.Select(
                line => new ChartSeries(line.Name, [.. result.Timeline.Select(point => (point.T, line.Value(point)))]))],
        }.Render();

    private static string Text(double value, string format) => value.ToString(format, CultureInfo.InvariantCulture);
}

/// <summary>The threads at a time.</summary>
/// <param name="T">Seconds since the load began.</param>
/// <param name="Rate">Requests per second asked for.</param>
/// <param name="Threads">Threads of the stages.</param>
public sealed record StepPoint(double T, double Rate, ThreadNumbers Threads);

/// <summary>A segment of the load between two steps.</summary>
public sealed record StepSegment
{
    /// <summary>Its name.</summary>
    public required string Name { get; init; }

    /// <summary>Seconds from the begin of the load to its begin.</summary>
    public required double From { get; init; }

    /// <summary>Its length in seconds.</summary>
    public required double Seconds { get; init; }

    /// <summary>Requests per second asked for.</summary>
    public required double Rate { get; init; }

    /// <summary>Requests answered.</summary>
    public required long Requests { get; init; }

    /// <summary>Requests that failed.</summary>
    public required long Errors { get; init; }

    /// <summary>Latency in ms.</summary>
    public required LatencySummary LatencyMs { get; init; }

    /// <summary>Processor use of the silo; 100 is one core.</summary>
    public required double CpuPercent { get; init; }

    /// <summary>Threads at its end.</summary>
    public required ThreadNumbers Threads { get; init; }

    /// <summary>Changes of the stages' threads in it, as the samples show them.</summary>
    public required int Changes { get; init; }

    /// <summary>Seconds from its begin to the last of them; 0 without any.</summary>
    public required double SecondsToLastChange { get; init; }
}

/// <summary>How an allocation followed the load, as written to JSON.</summary>
public sealed record StepResult
{
    /// <summary>Who gave the stages their threads.</summary>
    public required Allocation Allocation { get; init; }

    /// <summary>The segments of the load.</summary>
    public required StepSegment[] Segments { get; init; }

    /// <summary>The threads, four times a second.</summary>
    public required StepPoint[] Timeline { get; init; }

    /// <summary>Reads it off a run.</summary>
    /// <exception cref="InvalidOperationException">The run failed.</exception>
    public static StepResult Of(Allocation allocation, CellRun run)
    {
        var segments = run.Report?.Segments ?? throw new InvalidOperationException(run.Failure);
        var samples = run.Timeline.Samples(0);
        var begin = segments[0].From;
        var end = segments[^1].From + segments[^1].Seconds;
        return new StepResult
        {
            Allocation = allocation,
            Segments = [.. segments.Select(segment => Read(run, samples, segment, begin))],
            Timeline = [.. samples.Where(sample => sample.T >= begin && sample.T <= end).Select(sample => new StepPoint(
                sample.T - begin, segments.Last(segment => segment.From <= sample.T).Rate, CellTimeline.ThreadsOf(sample)))],
        };
    }

    /// <summary>The changes between samples in a stretch: how many, and seconds from its begin to the last.</summary>
    public static (int Count, double Last) Changes(IReadOnlyList<SiloSample> samples, double from, double to)
    {
        var count = 0;
        double last = 0;
        for (var i = 1; i < samples.Count; i++)
        {
            if (samples[i].T < from || samples[i].T > to || CellTimeline.ThreadsOf(samples[i]) == CellTimeline.ThreadsOf(samples[i - 1]))
                continue;
            count++;
            last = samples[i].T - from;
        }
        return (count, last);
    }

    private static StepSegment Read(CellRun run, SiloSample[] samples, SegmentReport segment, double begin)
    {
        (var changes, var last) = Changes(samples, segment.From, segment.From + segment.Seconds);
        return new StepSegment
        {
            Name = segment.Name,
            From = segment.From - begin,
            Seconds = segment.Seconds,
            Rate = segment.Rate,
            Requests = segment.Requests,
            Errors = segment.Errors,
            LatencyMs = segment.LatencyMs,
            CpuPercent = run.CpuPercent(segment),
            Threads = run.Threads(segment),
            Changes = changes,
            SecondsToLastChange = last,
        };
    }
}
