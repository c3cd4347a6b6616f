using System.CommandLine;
using ActOp.Harness.Reports;

namespace ActOp.Lab.Groups;

/// <summary>The commands that play groups with ticks in virtual time, by a time in ms.</summary>
internal static class StudyCommand
{
    /// <summary>ticks: groups that overrun their budget, and by how much the intervals shrink.</summary>
    public static Command CreateTicks() => Create<TickReport>(
        "ticks", "Budgets in ticks: 100 groups in virtual time, of which ten overrun.",
        Times("--overruns", "What a group uses too much in each turn on average, in ms, 1 to 500.", [10, 50, 100, 150]), 1_000_000,
        static (mean, intervals) => [TickStudy.Play(mean, intervals)],
        ["mean overrun, ms", "first interval shorter by", "settles at", "time of those groups / allocation", "of the others"],
        static one => [$"{one.MeanOverrun}", $"{one.First:P1}", $"{one.Settled:P1}", $"{one.Share:F2}", $"{one.OtherShare:F2}"]);

    /// <summary>idle: groups whose messages have known costs, and how long nothing runs although messages wait.</summary>
    public static Command CreateIdle() => Create<IdleReport>(
        "idle", "Costs that are known before: ten groups of 100 ticks in virtual time, by the time of a message.",
        Times("--times", "The mean time of a message, in ms, 1 to 500.", [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]), 100_000,
        static (mean, intervals) => [IdleStudy.Play(mean, lends: false, intervals), IdleStudy.Play(mean, lends: true, intervals)],
        ["message, ms", "a message that does not fit", "idle", "least time of a group / mean", "most"],
        static one => [$"{one.MessageTime}", one.Lends ? "runs if nothing else may" : "waits", $"{one.Idle:P1}", $"{one.Least:F2}", $"{one.Most:F2}"]);

    private static Option<int[]> Times(string name, string description, int[] times) => new(name)
    {
        Description = description,
        DefaultValueFactory = _ => times,
        AllowMultipleArgumentsPerToken = true,
    };

    private static Command Create<T>(
        string name, string description, Option<int[]> times, int mostIntervals, Func<int, int, T[]> play, IReadOnlyList<string> columns,
        Func<T, IReadOnlyList<string>> row)
    {
        Option<int> intervals = new("--intervals") { Description = "Intervals of 1,000 ms.", DefaultValueFactory = static _ => 1_000 };
        Option<FileInfo?> json = new("--json") { Description = "Write the results here." };
        Command command = new(name, description) { times, intervals, json };
        command.SetAction(result =>
        {
            var (means, count) = (result.GetValue(times)!, result.GetValue(intervals));
            if (count < 2 || count > mostIntervals || means.Any(static mean => mean is < 1 or > 500))
            {
                result.InvocationConfiguration.Error.WriteLine($"--intervals must be 2 to {mostIntervals}, {times.Name} 1 to 500.");
                return 2;
            }

            T[] reports = [.. means.SelectMany(mean => play(mean, count))];
            TextTable.Print(columns, reports.Select(row));
            if (result.GetValue(json) is { } file)
                ReportFile.WriteJson(file.FullName, reports);
            return 0;
        });
        return command;
    }
}
