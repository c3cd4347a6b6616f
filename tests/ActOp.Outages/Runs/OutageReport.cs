using ActOp.Harness.Reports;

namespace ActOp.Outages.Runs;

/// <summary>Prints a result.</summary>
internal static class OutageReport
{
    internal static void Print(OutageResult result)
    {
        TextTable.Print(["fault", "times", "settled after, s", "calls", "failed", "unavailable, s", "longest call, s"],
            result.Kinds.Select(static kind => (IReadOnlyList<string>)[kind.Key, $"{kind.Value.Times}", $"{kind.Value.Settled:0.0}",
                $"{kind.Value.Calls}", Text(kind.Value.Failed), $"{kind.Value.Unavailable:0.0}", $"{kind.Value.LongestCall:0.0}"]));
        var (history, streams, activations) = (result.History!, result.Streams!, result.Activations!);
        Console.WriteLine($"{result.Calls} calls, {result.Failed} failed, {result.Unexplained.Values.Sum()} of them unexplained ({Text(result.Unexplained)}); "
            + $"{result.Ended} silos ended by themselves; {result.Packets} packets, {result.LostPackets} lost; "
            + $"at most {result.Runnable:0.0} threads for each processor wanted to run");
        Console.WriteLine($"{history.Histories} histories of registers and counters with {history.Known} results and {history.Unknown} calls of unknown outcome; "
            + $"the hardest took {history.MostSteps} configurations; {history.Forgotten} times a counter in memory began anew");
        Console.WriteLine($"{streams.Acknowledged} acknowledged items of streams, {streams.Arrived} arrivals, {streams.Again} of them again; "
            + $"the last was there {result.ArrivedAfter:0.0} s after the end; {result.DeadLetters} given up");
        Console.WriteLine(
            $"{activations.Activations} activations of {activations.Grains} grains, {activations.Doubles} times two at once; "
            + $"{activations.Excused} turns that a pause had interrupted ended later");
        foreach (var fault in result.Faults)
            Console.WriteLine("WRONG: " + fault);
        var faults = result.Kinds.Where(static kind => kind.Key != Checks.Window.Busy).Sum(static kind => kind.Value.Times);
        Console.WriteLine($"seed {result.Options.Seed}: {faults} faults, {result.Faults.Count} violations");
    }

    private static string Text(SortedDictionary<string, int> failed) =>
        failed.Count == 0 ? "0" : string.Join(", ", failed.Select(static pair => $"{pair.Value} {pair.Key}"));
}
