using ActOp.Harness.Reports;
using Spectre.Console;

namespace ActOp.Lab.Seda;

/// <summary>The result of the seda command as it is written with --json.</summary>
internal sealed record SedaReport(
    SedaPlan Plan, double Hours, double WarmUp, double PenaltySeconds, double WithinShare, IReadOnlyList<ControllerReport> Controllers,
        IReadOnlyList<ProxyReport> Proxies);

/// <summary>
/// What a controller made of the server. Latencies in seconds, end to end; samples from the start, all else after the warm-up.
/// </summary>
internal sealed record ControllerReport(
    string Controller, double ChangesPerHour, double MeanLatency, double MedianLatency, double Latency99, double MeanQueued, int MaxQueued,
    double MeanThreads,
    double BusyProcessors, int Requests, IReadOnlyList<SedaSample> Samples);

/// <summary>
/// Equation (1) of the paper against the emulated truth for one shape of service times. Latencies in seconds, end to end.
/// </summary>
internal sealed record ProxyReport(
    string Shape, double SquaredVariation, IReadOnlyList<int> Threads, double ProxyLatency, double EmulatedLatency, double Ratio,
    IReadOnlyList<int> BestThreads, double BestLatency, double GapShare, bool IsWithin, int Emulated);

/// <summary>The stages at one moment.</summary>
internal sealed record SedaSample(double Seconds, IReadOnlyList<int> Queued, IReadOnlyList<int> Threads);

/// <summary>The tables of the seda command, for the console and for the page.</summary>
internal static class SedaTables
{
    public static string[] ControllerColumns { get; } =
        ["controller", "thread changes/h", "mean ms", "median ms", "99 % ms", "mean queued", "longest queue", "mean threads",
            "threads at the end", "busy processors"];

    public static string[] ProxyColumns { get; } =
        ["service times", "cv²", "the model's threads", "equation (1) ms", "emulated ms", "emulated / (1)", "best threads", "best ms",
            "above the best", "within", "allocations tried"];

    public static string Title(SedaReport report) =>
        $"{report.Plan.Stages.Count} stages, {report.Plan.Rate:0.##} requests/s, {report.Plan.Processors} processors, {report.Hours:0.##} h of virtual time, seed {report.Plan.Seed}";

    public static string[] Row(ControllerReport report) =>
    [
        report.Controller, $"{report.ChangesPerHour:F1}", Milliseconds(report.MeanLatency), Milliseconds(report.MedianLatency),
        Milliseconds(report.Latency99), $"{report.MeanQueued:F1}",
        $"{report.MaxQueued}", $"{report.MeanThreads:F1}", string.Join('/', report.Samples[^1].Threads), $"{report.BusyProcessors:F2}",
    ];

    public static string[] Row(ProxyReport report, double within) =>
    [
        report.Shape, $"{report.SquaredVariation:F1}", string.Join('/', report.Threads), Milliseconds(report.ProxyLatency),
        Milliseconds(report.EmulatedLatency), $"{report.Ratio:F2}",
        string.Join('/', report.BestThreads), Milliseconds(report.BestLatency), $"{report.GapShare:P1}", report.IsWithin
            ? $"yes ({within:P0})" : $"no ({within:P0})", $"{report.Emulated}",
    ];

    public static void Print(SedaReport report)
    {
        AnsiConsole.MarkupLineInterpolated($"[bold]{Title(report)}[/]");
        Print(ControllerColumns, report.Controllers.Select(Row));
        AnsiConsole.MarkupLine("[bold]Equation (1) of the paper against the emulated server, end to end[/]");
        Print(ProxyColumns, report.Proxies.Select(proxy => Row(proxy, report.WithinShare)));
    }

    private static void Print(string[] columns, IEnumerable<string[]> rows)
    {
        var table = new Table().AddColumns(columns);
        foreach (var row in rows)
            table.AddRow(row);
        AnsiConsole.Write(table);
    }

    private static string Milliseconds(double seconds) => $"{seconds * 1e3:F2}";
}

/// <summary>The result of the seda command as one HTML page that needs nothing else.</summary>
internal static class SedaPage
{
    public static string Write(SedaReport report)
    {
        var page = new HtmlPage("Stages under each controller")
            .Paragraph(SedaTables.Title(report))
            .Table(SedaTables.ControllerColumns, report.Controllers.Select(SedaTables.Row));
        foreach (var chart in report.Controllers.SelectMany(Charts))
            page.Figure(chart.Render());
        return page.Heading("Equation (1) of the paper against the emulated server")
            .Table(SedaTables.ProxyColumns, report.Proxies.Select(proxy => SedaTables.Row(proxy, report.WithinShare)))
            .End();
    }

    private static IEnumerable<SvgChart> Charts(ControllerReport report)
    {
        yield return Chart(report, "events queued", static sample => sample.Queued, isStepped: false);
        yield return Chart(report, "threads", static sample => sample.Threads, isStepped: true);
    }

    private static SvgChart Chart(ControllerReport report, string what, Func<SedaSample, IReadOnlyList<int>> pick, bool isStepped) => new()
    {
        Title = $"{report.Controller}: {what}",
        XLabel = "minutes",
        Stepped = isStepped,
        Series =
        [
            .. Enumerable.Range(0, report.Samples[0].Threads.Count).Select(stage => new ChartSeries(
                $"stage {stage + 1}", [.. report.Samples.Select(sample => (sample.Seconds / 60, (double)pick(sample)[stage]))])),
        ],
    };
}
