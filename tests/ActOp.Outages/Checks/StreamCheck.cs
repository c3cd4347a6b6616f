using ActOp.Harness.Activations;
using ActOp.Outages.Cluster;
using ActOp.Outages.Load;

namespace ActOp.Outages.Checks;

/// <summary>What arrived of streams.</summary>
internal sealed class StreamFindings
{
    /// <summary>Items that were acknowledged to their producers.</summary>
    public int Acknowledged { get; set; }

    /// <summary>Arrivals at consumers.</summary>
    public int Arrived { get; set; }

    /// <summary>Arrivals of an item that had arrived before.</summary>
    public int Again { get; set; }

    /// <summary>What is wrong.</summary>
    public List<string> Faults { get; } = [];
}

/// <summary>
/// Every acknowledged item arrives at each subscription at least once; the first arrivals of acknowledged items are in order. Pure.
/// </summary>
internal static class StreamCheck
{
    private static readonly Role[] Subscriptions = [Role.Implicit, Role.Explicit];

    /// <summary>Checks all streams.</summary>
    /// <param name="calls">Calls of clients; those with items are used.</param>
    /// <param name="arrivals">What the silos wrote down, in any order.</param>
    internal static StreamFindings Run(IEnumerable<Call> calls, IEnumerable<JournalRecord> arrivals)
    {
        var findings = new StreamFindings();
        var arrived = arrivals.OrderBy(static one => one.Timestamp)
            .ToLookup(static one => ((Role)one.Kind, TurnJournal.ItemOf(one).Stream), static one => TurnJournal.ItemOf(one).Item);
        foreach (var stream in calls.Where(static call => call.Kind == Role.Implicit).GroupBy(static call => call.Key))
        {
            var sent = stream.Select(static call => call.Argument).ToHashSet();
            var acknowledged = stream.Where(static call => call.Error is null).Select(static call => call.Argument).ToHashSet();
            findings.Acknowledged += acknowledged.Count;
            foreach (var subscription in Subscriptions)
                Judge($"stream {stream.Key}, {subscription}", [.. arrived[(subscription, stream.Key)]], sent, acknowledged, findings);
        }

        return findings;
    }

    private static void Judge(string name, long[] items, HashSet<long> sent, HashSet<long> acknowledged, StreamFindings findings)
    {
        var first = new HashSet<long>();
        long last = 0;
        foreach (var item in items)
        {
            findings.Arrived++;
            if (!first.Add(item))
            {
                findings.Again++;
                continue;
            }

            if (!sent.Contains(item))
                findings.Faults.Add($"{name}: item {item} arrived, but was never sent");
            if (!acknowledged.Contains(item))
                continue;
            if (item < last)
                findings.Faults.Add($"{name}: item {item} arrived after {last}");
            last = Math.Max(last, item);
        }

        long[] missing = [.. acknowledged.Except(first).Order()];
        if (missing.Length > 0)
            findings.Faults.Add($"{name}: {missing.Length} acknowledged items did not arrive, {missing[0]} to {missing[^1]}");
    }
}
