using System.Globalization;
using ActOp.Harness.Processes;
using Heartbeat.Bench.Load;
using Heartbeat.Bench.Silos;

namespace Heartbeat.Bench.Runs;

/// <summary>Runs cells, each in processes of its own.</summary>
public sealed class CellRunner(HeartbeatOptions options, IProgressView view, CancellationToken cancellation)
{
    /// <summary>Seconds in which code is compiled, before the warm-up.</summary>
    public const double CompileSeconds = 1;

    private const int CompileConcurrency = 64;

    /// <summary>Connecting, waking all grains and the last answers; a cell that takes longer has failed.</summary>
    private static readonly TimeSpan Allowance = TimeSpan.FromSeconds(45);

    /// <summary>What every load begins with.</summary>
    public static Segment Compile { get; } = new(SegmentNames.Compile, CompileSeconds, 0, CompileConcurrency);

    /// <summary>The options of all cells.</summary>
    public HeartbeatOptions Options => options;

    /// <summary>One that runs cells with other options.</summary>
    public CellRunner With(HeartbeatOptions other) => new(other, view, cancellation);

    /// <summary>Runs a cell with a measured segment at a rate, after compilation and a warm-up at that rate.</summary>
    public Task<CellRun> MeasureAsync(string title, CellOptions cell, double rate) => RunAsync(title, cell with
    {
        Schedule = Schedule.Print(
            Compile, new Segment(SegmentNames.Warmup, options.Warmup, rate), new Segment(SegmentNames.Measure, options.Measure, rate)),
    });

    /// <summary>Runs a cell. One that fails says so in its result, and the next can run.</summary>
    public async Task<CellRun> RunAsync(string title, CellOptions cell)
    {
        // One client searches for the peak.
        var processes = cell.FindPeak ? 1 : options.Processes;
        var timeline = new CellTimeline(processes);
        var search = cell.FindPeak ? BeatClient.LongestPeakSearch : 0;
        var longest = Allowance + TimeSpan.FromSeconds(Schedule.Parse(cell.Schedule).Sum(segment => segment.Seconds) + search);
        string[][] clients = [.. Enumerable.Range(0, processes).Select(client => ClientArguments(client, processes, cell))];
        var run = new ClusterRun<SiloSample, BeatReport>(timeline, longest, Arguments(options, cell), clients);
        var work = run.ExecuteAsync(cancellation);
        await view.ShowAsync(title, () => CellProgress.Read(timeline), work).ConfigureAwait(false);
        try
        {
            await work.ConfigureAwait(false);
            return new CellRun(timeline, timeline.Merged, null);
        }
        catch (Exception failure) when (failure is InvalidOperationException or TimeoutException)
        {
            return new CellRun(timeline, null, failure.Message);
        }
    }

    private string[] ClientArguments(int client, int count, CellOptions cell)
    {
        // Each has its share of the load, and its own random choices.
        var share = options with { Seed = options.Seed + 1000 * client, MaxOutstanding = Math.Max(1, options.MaxOutstanding / count) };
        var segments = Schedule.Parse(cell.Schedule)
            .Select(segment => segment with { Rate = segment.Rate / count, Concurrency = (segment.Concurrency + count - 1) / count });
        return Arguments(share, cell with { Schedule = Schedule.Print(segments) });
    }

    private static string[] Arguments(HeartbeatOptions options, CellOptions cell) =>
        [.. new HeartbeatOptionTable(options).Print(options), .. new CellOptionTable().Print(cell)];
}

/// <summary>A cell that has run.</summary>
/// <param name="Timeline">What its processes said.</param>
/// <param name="Report">The load clients' last reports together; null when the run failed.</param>
/// <param name="Failure">Why it failed; null when it did not.</param>
public sealed record CellRun(CellTimeline Timeline, BeatReport? Report, string? Failure)
{
    /// <summary>The outcome of a segment.</summary>
    /// <exception cref="InvalidOperationException">The run failed.</exception>
    public SegmentReport Segment(string name) =>
        Report?.Segments.FirstOrDefault(segment => segment.Name == name)
            ?? throw new InvalidOperationException(Failure ?? $"The load had no segment '{name}'.");

    /// <summary>Median latency in ms of the measured segment.</summary>
    /// <exception cref="InvalidOperationException">The run failed, or nothing was answered.</exception>
    public double MeasuredMedianMs() => Segment(SegmentNames.Measure) is { Requests: > 0 } measured
        ? measured.LatencyMs.P50 : throw new InvalidOperationException("No request was answered in the measured segment.");

    /// <summary>Processor use of the silo in a segment; 100 is one core.</summary>
    public double CpuPercent(SegmentReport segment) =>
        100 * Timeline.Growth(segment.From, segment.From + segment.Seconds, sample => sample.CpuSeconds) / segment.Seconds;

    /// <summary>Processor use of the load clients in a segment, in percent of the whole machine.</summary>
    public static double ClientPercent(SegmentReport segment) => 100 * segment.CpuSeconds / segment.Seconds / Environment.ProcessorCount;

    /// <summary>Changes of the stages' threads in a segment.</summary>
    public int Changes(SegmentReport segment) => (int)Math.Round(
        Timeline.Growth(segment.From, segment.From + segment.Seconds, sample => sample.Stages.Sum(stage => stage.Changes)));

    /// <summary>Threads at the end of a segment.</summary>
    public ThreadNumbers Threads(SegmentReport segment) => Timeline.ThreadsAt(segment.From + segment.Seconds);
}

/// <summary>What the silo and the load clients of one cell have said.</summary>
public sealed class CellTimeline(int clients = 1) : RunTimeline<SiloSample, BeatReport>(1, clients)
{
    /// <summary>What all load clients say together; null while one has said nothing.</summary>
    public BeatReport? Merged => Loads.Contains(null) ? null : BeatReports.Merge(Loads!);

    /// <summary>Threads as of the last sample not after a time; all 0 before the first.</summary>
    public ThreadNumbers ThreadsAt(double time)
    {
        var last = Samples(0).LastOrDefault(sample => sample.T <= time);
        return last is null ? new ThreadNumbers(0, 0, 0, 0) : ThreadsOf(last);
    }

    /// <summary>Threads that a sample says.</summary>
    public static ThreadNumbers ThreadsOf(SiloSample sample) => new(
        sample.Stages[StageNames.Receive].Threads, sample.Stages[StageNames.Work].Threads,
        sample.Stages[StageNames.SiloSend].Threads, sample.Stages[StageNames.ClientSend].Threads);
}

/// <summary>Threads of the stages that a controller sizes.</summary>
public sealed record ThreadNumbers(int Receive, int Work, int SiloSend, int ClientSend)
{
    /// <summary>As text for tables, in the order of the names.</summary>
    public override string ToString() => $"{Receive}/{Work}/{SiloSend}/{ClientSend}";
}

/// <summary>Names of the segments that most cells have.</summary>
public static class SegmentNames
{
    /// <summary>
    /// A closed loop in which code is compiled: at the full rate, cold code would leave a backlog of thousands of requests.
    /// </summary>
    public const string Compile = "compile";

    /// <summary>Load that does not count.</summary>
    public const string Warmup = "warmup";

    /// <summary>Load that counts.</summary>
    public const string Measure = "measure";

    /// <summary>No load, until what is in flight is answered.</summary>
    public const string Rest = "rest";

    /// <summary>The load that counts of one of several levels.</summary>
    public static string MeasureOf(LoadLevel load) => $"{Measure} {load}";
}

/// <summary>The state of a cell as a few named texts.</summary>
public static class CellProgress
{
    private const double Window = 1;

    /// <summary>Names and values as of the load clients' last reports.</summary>
    public static IReadOnlyList<(string Name, string Value)> Read(CellTimeline timeline)
    {
        if (timeline.Merged is not { } load)
            return ProgressTexts.Starting;
        var cpu = 100 * timeline.Growth(load.T - Window, load.T, sample => sample.CpuSeconds) / Window;
        return
        [
            ("phase", load.IsDone ? "done" : load.Segment),
            ProgressTexts.Latency(load.LatencyMs),
            ProgressTexts.Count("answered", load.Answered),
            ProgressTexts.Count("in flight", load.Outstanding),
            ProgressTexts.Count("errors", load.Errors),
            ("silo CPU", cpu.ToString("0", CultureInfo.InvariantCulture) + " %"),
            ("threads r/w/s/c", timeline.ThreadsAt(double.MaxValue).ToString()),
        ];
    }
}
