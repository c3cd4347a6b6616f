using System.CommandLine;
using System.Globalization;
using ActOp.Floors;
using ActOp.Harness.Reports;
using Heartbeat.Bench.Runs;
using Heartbeat.Bench.Silos;

namespace Heartbeat.Bench.Experiments;

/// <summary>Shows where the time of a request goes (paper, Figure 4).</summary>
public sealed class BreakdownExperiment() : Experiment(new HeartbeatOptions { Application = Application.Counter, Measure = 8 })
{
    private const int MessageBytes = 100;
    private static readonly TimeSpan FloorTime = TimeSpan.FromSeconds(0.3);
    private readonly LoadChoice _load = new(LoadLevel.Middle);
    private readonly Option<Allocation[]> _allocations = ListOption.OfNames(
        "--allocations", "What to look at.", Allocation.Cores, Allocation.Eight, Allocation.Model);

    /// <inheritdoc/>
    protected override IEnumerable<Option> OwnOptions => [.. _load.Options, _allocations];

    /// <inheritdoc/>
    protected override string? FindError(ParseResult parsed) => _load.FindError(parsed);

    /// <inheritdoc/>
    protected override async Task RunAsync(ParseResult parsed, CellRunner runner)
    {
        var networkMs = SocketFloor.Measure(MessageBytes, window: 1, runs: 1, FloorTime).MedianMicroseconds.Median / 1000;
        var rate = await _load.RateAsync(parsed, runner).ConfigureAwait(false);
        var results = new List<BreakdownResult>();
        foreach (var allocation in parsed.GetValue(_allocations)!)
        {
            var cell = _load.Cell(parsed) with { Allocation = allocation };
            var run = await runner.MeasureAsync($"{ListOption.Camel(allocation.ToString())}, {rate:N0}/s", cell,
                rate).ConfigureAwait(false);
            results.Add(BreakdownResult.Of(allocation, run, networkMs));
        }
        TextTable.Print(BreakdownTable.Titles(results), BreakdownTable.Rows(results));
        Console.WriteLine(BreakdownTable.Note);
        Write(parsed, results, () => Render(results));
    }

    /// <summary>The report.</summary>
    public static string Render(IReadOnlyList<BreakdownResult> results) => new HtmlPage("Heartbeat: where the time goes")
        .Table(BreakdownTable.Titles(results), BreakdownTable.Rows(results))
        .Paragraph(BreakdownTable.Note)
        .Figure(StackedBars.Render(
            "Mean time of a request (us)",
            [.. results.Select(result => (ListOption.Camel(result.Allocation.ToString()),
                (IReadOnlyList<(string, double)>)[.. result.Parts.Select(part => (part.Name, 1000 * part.Ms))]))]))
        .End(results);
}

/// <summary>Where the time of a mean request goes, as written to JSON.</summary>
public sealed record BreakdownResult
{
    /// <summary>Who gave the stages their threads.</summary>
    public required Allocation Allocation { get; init; }

    /// <summary>Requests per second asked for.</summary>
    public required double Rate { get; init; }

    /// <summary>Requests answered.</summary>
    public required long Requests { get; init; }

    /// <summary>Requests that failed.</summary>
    public required long Errors { get; init; }

    /// <summary>Mean latency in ms; the parts add up to it unless the silo's own sum is greater.</summary>
    public required double MeanMs { get; init; }

    /// <summary>Processor use of the silo; 100 is one core.</summary>
    public required double CpuPercent { get; init; }

    /// <summary>Threads at the end.</summary>
    public required ThreadNumbers Threads { get; init; }

    /// <summary>The parts, in the order in which a request meets them.</summary>
    public required Part[] Parts { get; init; }

    /// <summary>
    /// Reads the parts off a run; the runtime estimates its times from samples, and no part is below 0. <paramref name="networkMs"/> is a
    /// round trip without a silo.
    /// </summary>
    public static BreakdownResult Of(Allocation allocation, CellRun run, double networkMs)
    {
        var measured = run.Segment(SegmentNames.Measure);
        double requests = Math.Max(1, measured.Requests);
        var parts = new List<Part>();
        foreach (var stage in (int[])[StageNames.Receive, StageNames.Work, StageNames.ClientSend])
        {
            double PerRequest(Func<StageReading, double> counter) =>
                1000 * run.Timeline.Growth(measured.From, measured.From + measured.Seconds,
                    sample => counter(sample.Stages[stage])) / requests;
            parts.Add(new Part(StageNames.Tags[stage] + " queue", PerRequest(reading => reading.Wait)));
            parts.Add(new Part(StageNames.Tags[stage], Math.Max(0, PerRequest(reading => reading.Wall - reading.Ready))));
        }
        parts.Add(new Part("network", networkMs));
        parts.Add(new Part("other", Math.Max(0, measured.MeanMs - parts.Sum(part => part.Ms))));
        return new BreakdownResult
        {
            Allocation = allocation,
            Rate = measured.Rate,
            Requests = measured.Requests,
            Errors = measured.Errors,
            MeanMs = measured.MeanMs,
            CpuPercent = run.CpuPercent(measured),
            Threads = run.Threads(measured),
            Parts = [.. parts],
        };
    }
}

/// <summary>A part of the time of a mean request.</summary>
/// <param name="Name">Where it is spent.</param>
/// <param name="Ms">How long, in ms.</param>
public sealed record Part(string Name, double Ms);

/// <summary>The parts of a request as a table: one column for each allocation.</summary>
public static class BreakdownTable
{
    /// <summary>What one must know to read it.</summary>
    public const string Note =
        "Mean times of a request: waiting in a stage's queue and its processing there are read off the runtime's counters, network is "
            + "the median of a bare echo over loopback, "
        + "other is the rest of the latency at the client: waiting for a processor, the client itself. Threads that read may run turns "
        + "and turns may write their replies: then a stage has no queue and little to do.";

    /// <summary>Column titles that fit <see cref="Rows"/>.</summary>
    public static string[] Titles(IReadOnlyList<BreakdownResult> results) =>
        ["", .. results.SelectMany(result => (string[])[ListOption.Camel(result.Allocation.ToString()) + " us", "share"])];

    /// <summary>One row for each part, then what stands around it.</summary>
    public static IReadOnlyList<string[]> Rows(IReadOnlyList<BreakdownResult> results)
    {
        var rows = new List<string[]>();
        for (var i = 0; i < results[0].Parts.Length; i++)
        {
            rows.Add([results[0].Parts[i].Name,
                .. results.SelectMany(result => (string[])[Micros(result.Parts[i].Ms), Share(result.Parts[i].Ms, result.MeanMs)])]);
        }

        rows.Add(["mean latency", .. results.SelectMany(result => (string[])[Micros(result.MeanMs), ""])]);
        rows.Add(["requests/s", .. results.SelectMany(result => (string[])[result.Rate.ToString("N0", CultureInfo.InvariantCulture), ""])]);
        rows.Add(["errors", .. results.SelectMany(result => (string[])[result.Errors.ToString("N0", CultureInfo.InvariantCulture), ""])]);
        rows.Add(
            ["silo CPU %", .. results.SelectMany(result => (string[])[result.CpuPercent.ToString("0", CultureInfo.InvariantCulture), ""])]);
        rows.Add(["threads r/w/s/c", .. results.SelectMany(result => (string[])[result.Threads.ToString(), ""])]);
        return rows;
    }

    private static string Micros(double milliseconds) => (1000 * milliseconds).ToString("0.0", CultureInfo.InvariantCulture);

    private static string Share(double part, double whole) => whole > 0 ? (part / whole).ToString("P0", CultureInfo.InvariantCulture) : "-";
}
