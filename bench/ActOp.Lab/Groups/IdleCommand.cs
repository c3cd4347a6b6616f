using System.CommandLine;
using ActOp.Harness.Reports;

namespace ActOp.Lab.Groups;

/// <summary>idle: groups whose messages have known costs, and how long nothing runs although messages wait.</summary>
internal static class IdleCommand
{
    private const int MostIntervals = 100_000;

    public static Command Create()
    {
        Option<int[]> times = new("--times")
        {
            Description = "The mean time of a message, in ms, 1 to 500.",
            DefaultValueFactory = static _ => [10, 20, 30, 40, 50, 60, 70, 80, 90, 100],
            AllowMultipleArgumentsPerToken = true,
        };
        Option<int> intervals = new("--intervals") { Description = "Intervals of 1,000 ms.", DefaultValueFactory = static _ => 1_000 };
        Option<FileInfo?> json = new("--json") { Description = "Write the results here." };
        Command command =
            new("idle", "Costs that are known before: ten groups of 100 ticks in virtual time, by the time of a message.") { times, intervals, json };
        command.SetAction(result =>
        {
            var (means, count) = (result.GetValue(times)!, result.GetValue(intervals));
            if (count is < 2 or > MostIntervals || means.Any(static mean => mean is < 1 or > 500))
            {
                result.InvocationConfiguration.Error.WriteLine($"--intervals must be 2 to {MostIntervals}, --times 1 to 500.");
                return 2;
            }

            IdleReport[] reports = [.. means.SelectMany(mean => (bool[])[false, true], (mean, lends) => IdleStudy.Play(mean, lends, count))];
            TextTable.Print(["message, ms", "a message that does not fit", "idle", "least time of a group / mean", "most"],
                reports.Select(static one => (IReadOnlyList<string>)
                    [$"{one.MessageTime}", one.Lends ? "runs if nothing else may" : "waits", $"{one.Idle:P1}", $"{one.Least:F2}", $"{one.Most:F2}"]));
            if (result.GetValue(json) is { } file)
                ReportFile.WriteJson(file.FullName, reports);
            return 0;
        });
        return command;
    }
}
