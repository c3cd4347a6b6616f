using System.CommandLine;
using System.Globalization;
using ActOp.Configuration;
using ActOp.Harness.Reports;
using Heartbeat.Bench.Runs;

namespace Heartbeat.Bench.Experiments;

/// <summary>
/// Finds eta as the paper does: varies the threads, finds the best, fits eta to it, and searches around what the model then suggests.
/// </summary>
public sealed class CalibrateExperiment() : Experiment(new HeartbeatOptions { Warmup = 2, Measure = 3 })
{
    private const int MostThreads = 64;
    private const int Finalists = 3;
    private const int PlayOffRounds = 4;
    private readonly LoadChoice _load = new(LoadLevel.Middle);
    private readonly Option<int[]> _threads = ListOption.OfCounts(
        "--threads", "Threads of a stage to try, 1 to 64 each.", 1, MostThreads, 1, 2, 3, 4, 6, 8);
    private readonly Dictionary<ThreadPoint, CellRun> _runs = [];

    /// <inheritdoc/>
    protected override IEnumerable<Option> OwnOptions => [.. _load.Options, _threads];

    /// <inheritdoc/>
    protected override string? FindError(ParseResult parsed) => _load.FindError(parsed);

    /// <inheritdoc/>
    protected override async Task RunAsync(ParseResult parsed, CellRunner runner)
    {
        var work = _load.Cell(parsed);
        var rate = await _load.RateAsync(parsed, runner).ConfigureAwait(false);
        var cores = Environment.ProcessorCount;
        var start = new ThreadPoint(cores, cores, cores);
        await MeasureAsync(runner, start, rate, work).ConfigureAwait(false);
        var demands = DemandReading.Of(_runs[start]);
        int[] busy = [.. Enumerable.Range(0, ThreadPoint.Count).Where(stage => demands[stage].Arrivals > 0)];
        var search = new ThreadSearch(busy, point => MeasureAsync(runner, point, rate, work));
        var best = await search.VaryAsync(start, parsed.GetValue(_threads)!).ConfigureAwait(false);
        var configured = runner.Options.ThreadPenalty > 0
            ? runner.Options.ThreadPenalty / 1e6 : new StageOptions().ThreadPenalty.TotalSeconds;
        var fit = Fit(best, configured);
        // The neighbourhood of what the model suggests may hold something better still.
        ThreadPoint Vary(ThreadPoint suggestion) => busy.Aggregate(start, (point, stage) => point.With(stage, suggestion[stage]));
        await search.DescendAsync(await search.BestAsync(best, [Vary(fit.Suggestion)]).ConfigureAwait(false)).ConfigureAwait(false);
        var present = PenaltyFit.Suggest(DemandReading.Of(_runs[best]), Headroom(), configured);
        var near = await search.PlayOffAsync(Vary(present), Finalists, PlayOffRounds, start).ConfigureAwait(false);
        fit = Fit(near, configured);
        var model = await runner.With(runner.Options with { ThreadPenalty = Micros(fit.Eta) })
            .MeasureAsync("model with this eta", work with { Allocation = Allocation.Model }, rate).ConfigureAwait(false);
        var result = new CalibrationResult
        {
            Rate = rate,
            Processors = cores,
            EtaMicros = Micros(fit.Eta),
            EtaFromMicros = Micros(fit.From),
            EtaToMicros = Micros(fit.To),
            Best = near.ToString(),
            KeepsConfigured = fit.Eta == configured,
            Suggestion = fit.Suggestion.ToString(),
            Distance = fit.Distance,
            ModelThreads = model.Threads(model.Segment(SegmentNames.Measure)),
            Demands = [.. DemandReading.Of(_runs[near]).Select(MeasuredDemand.Of)],
            MeasuredMs = search.Measured.OrderBy(pair => pair.Value).ToDictionary(pair => pair.Key.ToString(), pair => pair.Value),
        };
        TextTable.Print(["threads receive/work/client send", "p50 ms"], Rows(result));
        foreach (var line in Lines(result))
            Console.WriteLine(line);
        Write(parsed, result, () => Render(result));
    }

    /// <summary>The report.</summary>
    public static string Render(CalibrationResult result)
    {
        var page = new HtmlPage("Heartbeat: the price of a thread").Table(["threads receive/work/client send", "p50 ms"], Rows(result));
        foreach (var line in Lines(result))
            page.Paragraph(line);
        return page.End(result);
    }

    private static IEnumerable<string[]> Rows(CalibrationResult result) =>
        result.MeasuredMs.Select(pair => (string[])[pair.Key, pair.Value.ToString("0.000", CultureInfo.InvariantCulture)]);

    private static IEnumerable<string> Lines(CalibrationResult result) =>
    [
        FormattableString.Invariant($"{result.Rate:N0} requests/s, {result.Processors} processors. Best: {result.Best}; what does not beat the present choice by {ThreadSearch.LeastGain:P0} in each of {PlayOffRounds} rounds counts as no better, and fewer threads as better than as many."),
        FormattableString.Invariant($"eta = {result.EtaMicros:0.##} us per thread (any of {result.EtaFromMicros:0.##} to {result.EtaToMicros:0.##} us does as well{(result.KeepsConfigured ? ", among them what was configured: it stays" : "")}); the model then suggests {result.Suggestion}, {result.Distance} threads from the best. Paper: 100 us."),
        $"A silo with this eta chose {result.ModelThreads} (receive/work/silo send/client send). It counts receive and work as one stage while the threads that read run most turns, and gives both its threads.",
        result.OptionLine,
    ];

    /// <summary>As many processors as the silo gives its model.</summary>
    private static double Headroom() => Environment.ProcessorCount * new StageOptions().ProcessorHeadroom;

    private static double Micros(double seconds) => seconds * 1e6;

    private FittedPenalty Fit(ThreadPoint best, double configured)
    {
        var demands = DemandReading.Of(_runs[best]);
        return PenaltyFit.Fit(demands, Headroom(), best, configured);
    }

    private async Task<double> MeasureAsync(CellRunner runner, ThreadPoint point, double rate, CellOptions work)
    {
        var cell = work with
        {
            Allocation = Allocation.Cores,
            ReceiveThreads = point.Receive,
            WorkThreads = point.Work,
            ClientSendThreads = point.ClientSend,
        };
        var run = await runner.MeasureAsync($"{_runs.Count + 1}: threads {point}, {rate:N0}/s", cell, rate).ConfigureAwait(false);
        _runs[point] = run;
        return run.MeasuredMedianMs();
    }
}

/// <summary>A calibration, as written to JSON. Times in microseconds.</summary>
public sealed record CalibrationResult
{
    /// <summary>Requests per second.</summary>
    public required double Rate { get; init; }

    /// <summary>Processors of the silo.</summary>
    public required int Processors { get; init; }

    /// <summary>The price of a thread to configure.</summary>
    public required double EtaMicros { get; init; }

    /// <summary>Any price from here on gives the same suggestion.</summary>
    public required double EtaFromMicros { get; init; }

    /// <summary>Up to here.</summary>
    public required double EtaToMicros { get; init; }

    /// <summary>The threads that measuring found best, receive/work/client send.</summary>
    public required string Best { get; init; }

    /// <summary>What the model suggests with the price.</summary>
    public required string Suggestion { get; init; }

    /// <summary>Whether the price that was configured explains the best as well as any: then it stays.</summary>
    public required bool KeepsConfigured { get; init; }

    /// <summary>Threads by which they differ.</summary>
    public required int Distance { get; init; }

    /// <summary>What a silo with the price chose.</summary>
    public required ThreadNumbers ModelThreads { get; init; }

    /// <summary>What the stages had to do: receive, work, client send.</summary>
    public required MeasuredDemand[] Demands { get; init; }

    /// <summary>Median latency in ms of every point that was measured.</summary>
    public required IReadOnlyDictionary<string, double> MeasuredMs { get; init; }

    /// <summary>The line to paste into a silo's configuration.</summary>
    public string OptionLine =>
        FormattableString.Invariant(
            $"silo.Configure<StageOptions>(options => options.ThreadPenalty = TimeSpan.FromMicroseconds({EtaMicros:0.##}));");
}
