using System.CommandLine;
using ActOp.Harness.Reports;

namespace ActOp.Lab.Groups;

/// <summary>ticks: groups that overrun their budget, and by how much the intervals shrink.</summary>
internal static class TicksCommand
{
    private const int MostIntervals = 1_000_000;

    public static Command Create()
    {
        Option<int[]> overruns = new("--overruns")
        {
            Description = "What a group uses too much in each turn on average, in ms, 1 to 500.",
            DefaultValueFactory = static _ => [10, 50, 100, 150],
            AllowMultipleArgumentsPerToken = true,
        };
        Option<int> intervals = new("--intervals") { Description = "Intervals of 1,000 ms.", DefaultValueFactory = static _ => 1_000 };
        Option<FileInfo?> json = new("--json") { Description = "Write the results here." };
        Command command =
            new("ticks", "Budgets in ticks: 100 groups in virtual time, of which ten overrun.") { overruns, intervals, json };
        command.SetAction(result =>
        {
            var (means, count) = (result.GetValue(overruns)!, result.GetValue(intervals));
            if (count is < 2 or > MostIntervals || means.Any(static mean => mean is < 1 or > 500))
            {
                result.InvocationConfiguration.Error.WriteLine($"--intervals must be 2 to {MostIntervals}, --overruns 1 to 500.");
                return 2;
            }

            TickReport[] reports = [.. means.Select(mean => TickStudy.Play(mean, count))];
            TextTable.Print(["mean overrun, ms", "first interval shorter by", "settles at", "time of those groups / allocation", "of the others"],
                reports.Select(static one => (IReadOnlyList<string>)
                    [$"{one.MeanOverrun}", $"{one.First:P1}", $"{one.Settled:P1}", $"{one.Share:F2}", $"{one.OtherShare:F2}"]));
            if (result.GetValue(json) is { } file)
                ReportFile.WriteJson(file.FullName, reports);
            return 0;
        });
        return command;
    }
}
