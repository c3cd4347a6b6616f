using ActOp.Outages.Cluster;
using ActOp.Outages.Load;
using ActOp.Outages.Runs;

namespace ActOp.Outages.Checks;

/// <summary>A fault, and when it was. Times are ticks of the machine's monotonic clock.</summary>
/// <param name="Fault">The fault; null for a time in which the machine was busy with other things.</param>
/// <param name="From">When it began.</param>
/// <param name="Healed">When it was taken back.</param>
/// <param name="Until">Calls that are sent later must not fail because of it.</param>
/// <param name="Settled">When all silos, new ones too, had been in all views for a while again.</param>
internal sealed record Window(Fault? Fault, long From, long Healed, long Until, long Settled)
{
    /// <summary>The name of the times in which the machine was busy.</summary>
    internal const string Busy = "BusyMachine";

    internal string Name => Fault?.Kind.ToString() ?? Busy;
}

/// <summary>Which failures a fault explains.</summary>
internal static class Explanations
{
    private const string Gone = "SiloUnavailableException";
    private const string Late = "TimeoutException";
    private const string Conflict = "InconsistentStateException";
    private const string Storage = "OrleansException";

    /// <summary>
    /// The types of exceptions that calls may end with while a fault lasts. Slow links and clocks that jump explain none.
    /// </summary>
    internal static string[] Of(FaultKind? kind) => kind switch
    {
        FaultKind.Slow or FaultKind.Clock => [],
        // The silos see each other: nobody is unavailable, but nobody has a lease or a storage.
        FaultKind.DatabaseKill or FaultKind.DatabasePause => [Late, Conflict, Storage],
        // Without a record nobody writes: whoever was replaced may have written.
        FaultKind.Kill or FaultKind.ClockKill or FaultKind.Split => [Gone, Late, Conflict],
        FaultKind.ClientCut => [Gone, Late],
        _ => [Gone, Late, Conflict, Storage],
    };

    /// <summary>Whether no silo may be found dead because of such a fault.</summary>
    internal static bool KeepsMembers(FaultKind kind) =>
        kind is FaultKind.Clock or FaultKind.Slow or FaultKind.ClientCut or FaultKind.DatabaseKill or FaultKind.DatabasePause;

    /// <summary>The window that explains why a call failed; null if there is none.</summary>
    /// <remarks>
    /// The call was sent before its end, and ended after its begin. A process that starts later, and joins, explains no failure.
    /// </remarks>
    internal static Window? Find(IEnumerable<Window> windows, Call call) => windows.FirstOrDefault(window => Touches(window, call)
        && Of(window.Fault?.Kind).Contains(call.Error!.Split('(')[0], StringComparer.Ordinal));

    /// <summary>The times in which the machine was busy, each with some time after it; those that overlap are one.</summary>
    internal static List<Window> Merge(IEnumerable<StillLine> stills, long after)
    {
        var merged = new List<Window>();
        foreach (var still in stills.OrderBy(static still => still.Until - still.Still))
        {
            var next = new Window(null, still.Until - still.Still, still.Until, still.Until + after, still.Until + after);
            if (merged is [.., var last] && next.From <= last.Until)
                merged[^1] = last.Until >= next.Until ? last : next with { From = last.From };
            else
                merged.Add(next);
        }

        return merged;
    }

    /// <summary>Whether a call overlaps a window.</summary>
    internal static bool Touches(Window window, Call call) => call.From <= window.Until && call.To >= window.From;
}
