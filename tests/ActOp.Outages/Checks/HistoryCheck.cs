using ActOp.Outages.Cluster;
using ActOp.Outages.Load;
using ActOp.Outages.Runs;

namespace ActOp.Outages.Checks;

/// <summary>What the clients saw: the result of <see cref="HistoryCheck"/>.</summary>
internal sealed class HistoryFindings
{
    /// <summary>Keys whose histories were checked.</summary>
    public int Histories { get; set; }

    /// <summary>Calls in them that have a result, and that have none.</summary>
    public int Known { get; set; }

    /// <summary>Calls without a result.</summary>
    public int Unknown { get; set; }

    /// <summary>Configurations that the search visited for the hardest one.</summary>
    public long MostSteps { get; set; }

    /// <summary>Times that a counter in memory began anew.</summary>
    public int Forgotten { get; set; }

    /// <summary>What is wrong.</summary>
    public List<string> Faults { get; } = [];
}

/// <summary>Checks the registers and counters. Pure.</summary>
internal static class HistoryCheck
{
    private static readonly FaultKind[] Harmless = [FaultKind.Slow, FaultKind.Clock, FaultKind.ClientCut];

    /// <summary>Checks all calls.</summary>
    internal static HistoryFindings Run(IReadOnlyCollection<Call> calls, IReadOnlyList<Window> windows)
    {
        var findings = new HistoryFindings();
        foreach (var grain in calls.Where(static call => call.Kind != Role.Implicit).GroupBy(static call => (call.Kind, call.Key)))
        {
            var name = $"{grain.Key.Kind} {grain.Key.Key}";
            Call[] all = [.. grain];
            Call[] values = [.. all.Where(static call => !call.IsList && (call.Error is null || call.Verb != Verb.Read))];
            if (grain.Key.Kind != Role.Memory)
                Judge(name, values.Select(static call => call.Operation), findings);
            else
                JudgeMemory(name, values, windows, findings);
            JudgeIds(name, all, findings);
        }

        return findings;
    }

    private static void Judge(string name, IEnumerable<Operation> history, HistoryFindings findings)
    {
        Operation[] operations = [.. history];
        var verdict = Linearity.Check(operations);
        findings.Histories++;
        findings.Known += operations.Count(static one => one.IsKnown);
        findings.Unknown += operations.Count(static one => !one.IsKnown);
        findings.MostSteps = Math.Max(findings.MostSteps, verdict.Steps);
        if (verdict.Answer == Linear.Undecided)
            findings.Faults.Add($"{name}: not decided within {verdict.Steps} configurations");
        if (verdict.Answer == Linear.No)
        {
            findings.Faults.Add(
                $"{name}: not linearizable. After {verdict.Placed} of {operations.Count(static one => one.IsKnown)} calls the value is "
                + $"{verdict.Value}, and these do not follow: "
                + string.Join("; ", verdict.Stuck.Take(6).Select(static one => $"{one} from {one.From} to {one.To}")));
        }
    }

    /// <summary>
    /// Each activation is a counter of its own that begins with 0. A call without a result may have reached any of them. A newer one comes
    /// after the older one, and because of a fault.
    /// </summary>
    private static void JudgeMemory(string name, Call[] calls, IReadOnlyList<Window> windows, HistoryFindings findings)
    {
        Call[] unknown = [.. calls.Where(static call => call.Error is not null)];
        var lives = calls.Where(static call => call.Error is null).GroupBy(static call => call.Activation)
            .Select(static life => (Calls: life.ToArray(), Activation: life.Key))
            .OrderBy(static life => life.Calls.Min(static call => call.To)).ToArray();
        foreach (var (own, activation) in lives)
        {
            var last = own.Max(static call => call.To);
            Judge($"{name} in activation {activation}",
                own.Concat(unknown.Where(call => call.From < last)).Select(static call => call.Operation), findings);
        }

        for (var i = 1; i < lives.Length; i++)
        {
            findings.Forgotten++;
            var older = lives[i - 1].Calls.Max(static call => call.From);
            var newer = lives[i].Calls.Min(static call => call.To);
            if (older > newer)
                findings.Faults.Add($"{name}: activation {lives[i - 1].Activation} answered a call that was sent after activation {lives[i].Activation} had answered");
            if (!windows.Any(window => (window.Fault is not { } fault || !Harmless.Contains(fault.Kind))
                && window.From <= newer && window.Until >= older))
            {
                findings.Faults.Add($"{name}: forgotten without a fault, by activation {lives[i].Activation} at {newer}");
            }
        }
    }

    /// <summary>What was acknowledged is there, what is there was sent, and nothing is there twice.</summary>
    private static void JudgeIds(string name, Call[] calls, HistoryFindings findings)
    {
        if (calls.FirstOrDefault(static call => call.List is not null)?.List is not { } list)
            return;
        var there = list.ToHashSet();
        if (there.Count != list.Length)
            findings.Faults.Add($"{name}: {list.Length - there.Count} calls were done twice");
        Call[] adds = [.. calls.Where(static call => call.Verb == Verb.Add)];
        if (there.Except(adds.Select(static call => call.Argument)).Count() is > 0 and var unsent)
            findings.Faults.Add($"{name}: {unsent} calls were done that nobody sent");
        var lost = adds.Where(static call => call.Error is null).Select(static call => call.Argument).Except(there).Count();
        if (lost > 0 && calls[0].Kind == Role.Counter)
            findings.Faults.Add($"{name}: {lost} acknowledged calls are lost");
    }
}
