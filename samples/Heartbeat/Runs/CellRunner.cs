using Harness.Supervision;
using Heartbeat.Children;
using Heartbeat.Load;
using Heartbeat.Options;

namespace Heartbeat.Runs;

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
        Schedule = Schedule.Print(Compile, new Segment(SegmentNames.Warmup, options.Warmup, rate), new Segment(SegmentNames.Measure, options.Measure, rate)),
    });

    /// <summary>Runs a cell. One that fails says so in its result, and the next can run.</summary>
    public async Task<CellRun> RunAsync(string title, CellOptions cell)
    {
        // One client searches for the peak.
        int processes = cell.FindPeak ? 1 : options.Processes;
        var timeline = new CellTimeline(processes);
        double search = cell.FindPeak ? BeatClient.LongestPeakSearch : 0;
        TimeSpan longest = Allowance + TimeSpan.FromSeconds(Schedule.Parse(cell.Schedule).Sum(segment => segment.Seconds) + search);
        string[][] clients = [.. Enumerable.Range(0, processes).Select(client => ClientArguments(client, processes, cell))];
        var run = new ClusterRun<SiloSample, BeatReport>(timeline, longest, Arguments(options, cell), clients);
        Task work = run.ExecuteAsync(cancellation);
        await view.ShowAsync(title, () => ProgressLine.Read(timeline), work).ConfigureAwait(false);
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
        HeartbeatOptions share = options with { Seed = options.Seed + 1000 * client, MaxOutstanding = Math.Max(1, options.MaxOutstanding / count) };
        IEnumerable<Segment> segments = Schedule.Parse(cell.Schedule).Select(segment => segment with { Rate = segment.Rate / count, Concurrency = (segment.Concurrency + count - 1) / count });
        return Arguments(share, cell with { Schedule = Schedule.Print(segments) });
    }

    private static string[] Arguments(HeartbeatOptions options, CellOptions cell) => [.. new HeartbeatOptionTable(options).Print(options), .. new CellOptionTable().Print(cell)];
}
