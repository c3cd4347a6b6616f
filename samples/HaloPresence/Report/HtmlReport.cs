using System.Globalization;
using HaloPresence.Options;
using HaloPresence.Results;
using Harness.Report;

namespace HaloPresence.Report;

/// <summary>The report of an experiment: one HTML file that needs nothing else.</summary>
public static class HtmlReport
{
    /// <summary>Writes the report of the runs.</summary>
    public static string Render(IReadOnlyList<RunResult> runs)
    {
        RunResult first = runs[0];
        var page = new HtmlPage("Halo Presence");
        page.Paragraph(string.Create(CultureInfo.InvariantCulture, $"{first.Silos} silos, {first.Players:N0} players, {first.Rate:N0} status requests/s, {first.ChurnPerMinute:0.##} % of the players regroup per minute, seed {first.Seed}. ")
            + "The paper: 10 servers, 100,000 players, 6,000 requests/s; its absolute values are of other machines, shares and ratios compare.");
        if (first.Rehearsal)
            page.Paragraph("Rehearsal: no grains ran. These are the costs of the harness.", strong: true);
        page.Table(Comparison.Titles(runs), Comparison.Rows(runs));
        foreach (SvgChart chart in Charts(runs))
            page.Figure(chart.Render());
        return page.End(runs);
    }

    private static IEnumerable<SvgChart> Charts(IReadOnlyList<RunResult> runs)
    {
        yield return OverTime("Remote share over time", runs, point => point.RemoteShare, percent: true);
        yield return new SvgChart
        {
            Title = "Latency: cumulative distribution",
            XLabel = "ms since the intended start (logarithmic)",
            LogX = true,
            Percent = true,
            Series = [.. runs.Select(run => new ChartSeries(Name(run), [.. run.Latency.Distribution().Select(p => (p.Milliseconds, p.Share))]))],
        };
        yield return OverTime("Silo CPU (cores, all silos)", runs, point => point.CpuCores);
        yield return OverTime("Moves (grains migrated per second)", runs, point => point.Moves);
    }

    private static SvgChart OverTime(string title, IReadOnlyList<RunResult> runs, Func<ConvergencePoint, double> value, bool percent = false) => new()
    {
        Title = title,
        XLabel = "seconds since the load began",
        Percent = percent,
        Series = [.. runs.Select(run => new ChartSeries(Name(run), [.. run.Convergence.Select(point => (point.T, value(point)))]))],
    };

    private static string Name(RunResult run) => OptimizeName.Of(run.Optimize);
}
