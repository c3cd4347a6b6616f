using Spectre.Console;

namespace ActOp.Lab.Seda;

/// <summary>The tables of the seda command, for the console and for the page.</summary>
internal static class SedaTables
{
    public static string[] ControllerColumns { get; } =
        ["controller", "thread changes/h", "mean ms", "median ms", "99 % ms", "mean queued", "longest queue", "mean threads", "threads at the end", "busy processors"];

    public static string[] ProxyColumns { get; } =
        ["service times", "cv²", "the model's threads", "equation (1) ms", "emulated ms", "emulated / (1)", "best threads", "best ms", "above the best", "within", "allocations tried"];

    public static string Title(SedaReport report) =>
        $"{report.Plan.Stages.Count} stages, {report.Plan.Rate:0.##} requests/s, {report.Plan.Processors} processors, {report.Hours:0.##} h of virtual time, seed {report.Plan.Seed}";

    public static string[] Row(ControllerReport report) =>
    [
        report.Controller, $"{report.ChangesPerHour:F1}", Milliseconds(report.MeanLatency), Milliseconds(report.MedianLatency), Milliseconds(report.Latency99), $"{report.MeanQueued:F1}",
        $"{report.MaxQueued}", $"{report.MeanThreads:F1}", string.Join('/', report.Samples[^1].Threads), $"{report.BusyProcessors:F2}",
    ];

    public static string[] Row(ProxyReport report, double within) =>
    [
        report.Shape, $"{report.SquaredVariation:F1}", string.Join('/', report.Threads), Milliseconds(report.ProxyLatency), Milliseconds(report.EmulatedLatency), $"{report.Ratio:F2}",
        string.Join('/', report.BestThreads), Milliseconds(report.BestLatency), $"{report.GapShare:P1}", report.IsWithin ? $"yes ({within:P0})" : $"no ({within:P0})", $"{report.Emulated}",
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
