using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using ActOp.Harness.Reports;
using Heartbeat.Bench.Load;
using Heartbeat.Bench.Runs;

namespace Heartbeat.Bench.Experiments;

/// <summary>Compares allocations under load.</summary>
public sealed class CompareExperiment() : Experiment(new HeartbeatOptions { Warmup = 4, Measure = 2 }, "heartbeat.json", "heartbeat.html")
{
    private readonly Option<Allocation[]> _allocations = ListOption.OfNames(
        "--allocations", "What to compare.", Enum.GetValues<Allocation>());
    private readonly Option<LoadLevel[]> _loads = ListOption.OfNames(
        "--loads", "50, 65 and 80 percent of the baseline's peak.", Enum.GetValues<LoadLevel>());
    private readonly Option<double[]> _compute = ListOption.OfNumbers(
        "--compute-us", "Microseconds of processor time that every request uses in its turn; several are compared one by one. Paper: 200.",
        0, WorkChoice.MostComputeUs, 200);
    private readonly Option<double[]> _blocking = ListOption.OfPercents(
        "--blocking", "Percent of the requests that block their thread.", 0, 10);
    private readonly Option<double[]> _peak = ListOption.OfNumbers(
        "--peak", "The baseline's peak in requests/s, of which loads are shares, one for each value of --compute-us; 0 = search for it.",
        0, WorkChoice.MostPeak, 0);
    private readonly Option<int> _repeat =
        new("--repeat") { Description = "Passes over all cells, 1 to 100.", DefaultValueFactory = _ => 1 };

    /// <inheritdoc/>
    protected override IEnumerable<Option> OwnOptions => [_allocations, _loads, _compute, _blocking, _peak, _repeat];

    /// <inheritdoc/>
    protected override string? FindError(ParseResult parsed)
    {
        if (parsed.GetValue(_repeat) is < 1 or > 100) return $"--repeat must be 1 to 100, not {parsed.GetValue(_repeat)}.";
        var compute = parsed.GetValue(_compute)!;
        var peaks = parsed.GetValue(_peak)!;
        if (compute.Distinct().Count() < compute.Length) return "--compute-us names a value twice.";
        if (peaks is not [0] && peaks.Length != compute.Length)
            return $"--peak must have one value for each of --compute-us, {compute.Length}, not {peaks.Length}.";
        return null;
    }

    /// <inheritdoc/>
    protected override async Task RunAsync(ParseResult parsed, CellRunner runner)
    {
        var compute = parsed.GetValue(_compute)!;
        var given = parsed.GetValue(_peak)!;
        (double ComputeUs, double Peak)[] peaks = [.. compute.Select((computeUs, i) => (computeUs, given[Math.Min(i, given.Length - 1)]))];
        var plan = ComparePlan.Build(
            parsed.GetValue(_allocations)!, compute, parsed.GetValue(_blocking)!, parsed.GetValue(_repeat));
        LoadLevel[] loads = [.. parsed.GetValue(_loads)!.Order()];
        var seconds = ComparePlan.Seconds(runner.Options, plan.Count, loads.Length, peaks.Count(one => one.Peak == 0));
        var cells = plan.Count * loads.Length;
        Console.WriteLine(FormattableString.Invariant($"{cells} cells in {plan.Count} runs, about {seconds / 60:0.0} minutes"));
        var results = new List<CellResult>();
        try
        {
            await MeasureAsync(runner, plan, loads, new Peaks(runner, peaks), results).ConfigureAwait(false);
        }
        finally
        {
            // One that is stopped early shows what it has.
            if (results.Count > 0)
                Show(parsed, runner.Options, new CompareResult(results));
        }
    }

    private static async Task MeasureAsync(
        CellRunner runner, IReadOnlyList<PlannedRun> plan, LoadLevel[] loads, Peaks peaks, List<CellResult> results)
    {
        var start = Stopwatch.GetTimestamp();
        for (var i = 0; i < plan.Count; i++)
        {
            var planned = plan[i];
            var rates = new List<(LoadLevel Load, double Rate)>();
            foreach (var load in loads)
                rates.Add((load, await peaks.RateAsync(load, planned.ComputeUs, planned.BlockingPercent).ConfigureAwait(false)));
            var cell = new CellOptions
            {
                Allocation = planned.Allocation,
                ComputeUs = planned.ComputeUs,
                BlockingPercent = planned.BlockingPercent,
                Schedule = Schedule.Print(ComparePlan.Segments(runner.Options, rates)),
            };
            var run = await runner.RunAsync($"{i + 1}/{plan.Count} {planned}", cell).ConfigureAwait(false);
            CellResult[] measured = [.. rates.Select(rate => CellResult.Of(planned, rate.Load, rate.Rate, run))];
            results.AddRange(measured);
            var left = Stopwatch.GetElapsedTime(start).TotalMinutes / (i + 1) * (plan.Count - i - 1);
            var brief = string.Join("; ", measured.Select(Brief));
            Console.WriteLine(FormattableString.Invariant($"{i + 1}/{plan.Count} {planned}: {brief}; {left:0.0} minutes left"));
        }
    }

    private static string Brief(CellResult cell)
    {
        var load = ListOption.Camel(cell.Load.ToString());
        return FormattableString.Invariant(
            $"{load} {cell.Rate:N0}/s p99 {cell.LatencyMs.P99:0.00} ms, {cell.Threads}, client {cell.ClientPercent:0.0} %");
    }

    private void Show(ParseResult parsed, HeartbeatOptions options, CompareResult result)
    {
        TextTable.Print(CompareTable.Titles, CompareTable.Rows(result.Cells));
        foreach (var note in CompareTable.Notes(options, result.Cells))
            Console.WriteLine(note);
        foreach (var cell in result.Cells)
        {
            foreach (var text in cell.ErrorTexts)
                Console.WriteLine($"{ListOption.Camel(cell.Allocation.ToString())}, {CompareTable.Describe(cell)}: {text}");
        }
        if (result.Regret.Count > 0)
        {
            TextTable.Print(RegretTable.Titles, RegretTable.Rows(result.Regret));
            foreach (var note in RegretTable.Notes(result.Regret))
                Console.WriteLine(note);
        }
        Write(parsed, result, () => CompareReport.Render(options, result));
    }
}

/// <summary>
/// The order of a comparison: all allocations of one kind of request in a row, so that a drift of the machine hits all alike. Every pass
/// begins with another one.
/// </summary>
public static class ComparePlan
{
    /// <summary>The longest wait for what a level has left in flight, in seconds.</summary>
    private const double LongestRest = 4;

    /// <summary>Starting and stopping the processes of a run, in seconds; only to say how long it will take.</summary>
    private const double RunOverhead = 2.5;

    /// <summary>A search for a peak, in seconds; only to say how long it will take.</summary>
    private const double SearchSeconds = 40;

    /// <summary>Every combination, <paramref name="repeats"/> times.</summary>
    public static IReadOnlyList<PlannedRun> Build(
        IReadOnlyList<Allocation> allocations, IReadOnlyList<double> compute, IReadOnlyList<double> blocking, int repeats)
    {
        var runs = new List<PlannedRun>();
        for (var repeat = 1; repeat <= repeats; repeat++)
        {
            // Kinds of requests begin with different ones too: else the first of a single pass would always be the same.
            var first = repeat - 1;
            foreach (var computeUs in compute)
            {
                foreach (var percent in blocking)
                {
                    for (var i = 0; i < allocations.Count; i++)
                        runs.Add(new PlannedRun(repeat, computeUs, percent, allocations[(i + first) % allocations.Count]));
                    first++;
                }
            }
        }
        return runs;
    }

    /// <summary>
    /// The load of a run: after compilation, each level with a warm-up of its own. What one leaves in flight is answered before the next
    /// begins.
    /// </summary>
    public static IEnumerable<Segment> Segments(HeartbeatOptions options, IReadOnlyList<(LoadLevel Load, double Rate)> loads)
    {
        yield return CellRunner.Compile;
        for (var i = 0; i < loads.Count; i++)
        {
            if (i > 0)
                yield return new Segment(SegmentNames.Rest, LongestRest, 0);
            yield return new Segment(SegmentNames.Warmup, options.Warmup, loads[i].Rate);
            yield return new Segment(SegmentNames.MeasureOf(loads[i].Load), options.Measure, loads[i].Rate);
        }
    }

    /// <summary>About how many seconds so many runs take that measure so many loads each, after some searches for a peak.</summary>
    public static double Seconds(HeartbeatOptions options, int runs, int loads, int searches) =>
        runs * (CellRunner.CompileSeconds + RunOverhead + loads * (options.Warmup + options.Measure)) + searches * SearchSeconds;
}

/// <summary>A silo and its load clients, which go through all loads, the lowest first.</summary>
/// <param name="Repeat">Which pass, from 1.</param>
/// <param name="ComputeUs">Microseconds of processor time that every request uses.</param>
/// <param name="BlockingPercent">Percent of the requests that block their thread.</param>
/// <param name="Allocation">Who gives the stages their threads.</param>
public sealed record PlannedRun(int Repeat, double ComputeUs, double BlockingPercent, Allocation Allocation)
{
    /// <summary>As text for people.</summary>
    public override string ToString() => $"{ListOption.Camel(Allocation.ToString())}, {Describe(ComputeUs, BlockingPercent)}";

    /// <summary>What its requests cost.</summary>
    public static string Describe(double computeUs, double blockingPercent) =>
        string.Create(CultureInfo.InvariantCulture, $"{computeUs:0.##} us, {blockingPercent:0.##} % block");
}
