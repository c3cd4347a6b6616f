using ActOp.Harness.Options;
using ActOp.Harness.Processes;
using ActOp.Harness.Reports;
using HaloPresence.Bench.Faults;
using Spectre.Console;

namespace HaloPresence.Bench.States;

/// <summary>The part of the command <c>faults</c> that tries storages, and what it prints.</summary>
public static class LedgerReport
{
    /// <summary>The faults of a list of names; <c>all</c> for all. Null for a list that is wrong.</summary>
    public static LedgerFault[]? Parse(string list)
    {
        if (list == "all")
            return Enum.GetValues<LedgerFault>();
        var faults = new List<LedgerFault>();
        foreach (var name in list.Split(','))
        {
            if (!Enum.TryParse<LedgerFault>(name, ignoreCase: true, out var fault))
                return null;
            faults.Add(fault);
        }
        return [.. faults];
    }

    /// <summary>Runs it and prints the result; returns the exit code.</summary>
    public static Task<int> RunAsync(FaultOptions options, string list, string? json, CancellationToken cancellation)
    {
        var faults = Parse(list);
        var error = faults is null
            ? $"--storage must be all or a list of {string.Join(", ", Enum.GetNames<LedgerFault>())}, not {list}."
            : PostgresServer.Programs is null ? "--storage needs PostgreSQL, which is not installed." : options.FindError();
        return CommandRun.RunAsync(error, async () =>
        {
            var result = await new LedgerRun(options, faults!, Console.WriteLine).ExecuteAsync(cancellation).ConfigureAwait(false);
            if (json is not null)
                ReportFile.WriteJson(json, result);
            Print(result);
            return result.Faults.Count == 0 ? 0 : 1;
        });
    }

    /// <summary>Counts by type, as text.</summary>
    public static string Text(SortedDictionary<string, long> errors) =>
        errors.Count == 0 ? "0" : string.Join(", ", errors.Select(pair => $"{pair.Value} {pair.Key}"));

    private static void Print(LedgerResult result)
    {
        var table = new Table().AddColumns("fault", "requests", "allowed errors", "other errors", "longest wait, s", "ledgers read");
        foreach (var step in result.Steps)
        {
            table.AddRow(
                step.Name, $"{step.Requests}", $"{step.Allowed.Values.Sum()}", $"{step.Others.Values.Sum()}", $"{step.LongestWait:0.0}",
                $"{step.Read}");
        }

        AnsiConsole.Write(table);
        foreach (var group in result.Steps.SelectMany(static step => step.Allowed).GroupBy(static pair => pair.Key))
            Console.WriteLine($"Errors that the contract allows: {group.Sum(static pair => pair.Value)} {group.Key}");
        var (verdict, activations) = (result.Verdict!, result.Activations!);
        var conflicts = result.Steps.Sum(static step => step.Allowed.Concat(step.Others)
            .Where(static pair => pair.Key.StartsWith("Inconsistent", StringComparison.Ordinal)).Sum(static pair => pair.Value));
        Console.WriteLine($"{verdict.Acknowledged} acknowledged writes, {verdict.Lost} lost, {verdict.Twice} acknowledged twice, "
            + $"{verdict.Interleaved} by an activation that was replaced; {conflicts} conflicts; {activations.Activations} activations, {activations.Doubles} times two at once; "
            + $"{result.Steps.Sum(static step => step.Others.Values.Sum())} errors that the contract does not allow.");
        foreach (var fault in result.Faults)
            Console.WriteLine("WRONG: " + fault);
    }
}
