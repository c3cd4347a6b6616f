using ActOp.Harness.Activations;
using ActOp.Outages.Checks;
using ActOp.Outages.Load;

namespace ActOp.Outages.Runs;

/// <summary>What all faults of one kind did.</summary>
internal sealed record KindResult
{
    /// <summary>How many there were.</summary>
    public int Times { get; set; }

    /// <summary>Seconds from the end of the fault until all had settled, the longest.</summary>
    public double Settled { get; set; }

    /// <summary>Calls that overlap a fault of this kind, until all had settled.</summary>
    public int Calls { get; set; }

    /// <summary>Those that failed, by type.</summary>
    public SortedDictionary<string, int> Failed { get; } = [];

    /// <summary>Seconds from the sending of a call to the next answer of the same grain or stream, the longest.</summary>
    public double Unavailable { get; set; }

    /// <summary>The longest that a call took.</summary>
    public double LongestCall { get; set; }
}

/// <summary>The result of a run.</summary>
internal sealed record OutageResult
{
    /// <summary>What was run.</summary>
    public required OutageOptions Options { get; init; }

    /// <summary>Each fault, with its times.</summary>
    public List<string> Schedule { get; } = [];

    /// <summary>By kind of fault.</summary>
    public SortedDictionary<string, KindResult> Kinds { get; } = [];

    /// <summary>Calls.</summary>
    public int Calls { get; set; }

    /// <summary>Calls that failed, all of them.</summary>
    public int Failed { get; set; }

    /// <summary>Failures that no fault explains, by type.</summary>
    public SortedDictionary<string, int> Unexplained { get; } = [];

    /// <summary>Silos that ended by themselves: declared dead, or replaced by one that started later.</summary>
    public int Ended { get; set; }

    /// <summary>Threads for each processor that ran or waited to run, the highest average of some seconds.</summary>
    public double Runnable { get; set; }

    /// <summary>Packets that were passed on.</summary>
    public long Packets { get; set; }

    /// <summary>Packets that were lost.</summary>
    public long LostPackets { get; set; }

    /// <summary>Seconds until all items of streams had arrived at the end.</summary>
    public double ArrivedAfter { get; set; }

    /// <summary>Items that streams gave up.</summary>
    public long DeadLetters { get; set; }

    /// <summary>Registers and counters.</summary>
    public HistoryFindings? History { get; set; }

    /// <summary>Streams.</summary>
    public StreamFindings? Streams { get; set; }

    /// <summary>Activations, by their turns.</summary>
    public ActivationReport? Activations { get; set; }

    /// <summary>What is wrong; empty when all is well.</summary>
    public List<string> Faults { get; } = [];
}

/// <summary>Counts calls by the faults that they met. Pure.</summary>
internal static class Tally
{
    private const int MaxTexts = 5;

    /// <summary>Fills the result.</summary>
    internal static void Count(IReadOnlyCollection<Call> calls, IReadOnlyList<Window> windows, OutageResult result)
    {
        result.Calls = calls.Count;
        foreach (var window in windows)
        {
            var kind = KindOf(window, result);
            kind.Times++;
            kind.Settled = Math.Max(kind.Settled, Seconds(window.Settled - window.Healed));
            result.Schedule.Add(
                $"{window.Fault} from {Seconds(window.From):0.0} to {Seconds(window.Healed):0.0}, explains failures of calls sent until "
                + $"{Seconds(window.Until):0.0}, settled at {Seconds(window.Settled):0.0}");
        }

        var answers = calls.Where(static call => call.Error is null).GroupBy(static call => (call.Kind, call.Key))
            .ToDictionary(static grain => grain.Key, static grain => grain.Select(static call => call.To).Order().ToArray());
        foreach (var call in calls)
        {
            if (call.Error is not null)
                Explain(call, windows, result);
            if (windows.FirstOrDefault(window => Explanations.Touches(window, call)) is not { } met)
                continue;
            var kind = KindOf(met, result);
            kind.Calls++;
            kind.LongestCall = Math.Max(kind.LongestCall, Seconds(call.To - call.From));
            if (!call.IsFinal && NextAnswer(answers, call) is { } next)
                kind.Unavailable = Math.Max(kind.Unavailable, Seconds(next - call.From));
        }
    }

    private static void Explain(Call call, IReadOnlyList<Window> windows, OutageResult result)
    {
        result.Failed++;
        if (Explanations.Find(windows, call) is { } window)
        {
            var failed = KindOf(window, result).Failed;
            failed[call.Error!] = failed.GetValueOrDefault(call.Error!) + 1;
            return;
        }

        result.Unexplained[call.Error!] = result.Unexplained.GetValueOrDefault(call.Error!) + 1;
        if (result.Unexplained.Values.Sum() <= MaxTexts)
        {
            var near = windows.Where(one => one.Fault is not null && one.From <= call.To).MaxBy(static one => one.From);
            result.Faults.Add($"unexplained: {call.Kind} {call.Key} {call.Verb} of client {call.Client} from {Seconds(call.From):0.000} to {Seconds(call.To):0.000}: "
                + $"{call.Error}: {call.Text} The last fault before its end: {near?.Fault} from "
                + $"{Seconds(near?.From ?? 0):0.0}, explains until {Seconds(near?.Until ?? 0):0.0}");
        }
        else if (result.Unexplained.Values.Sum() == MaxTexts + 1)
        {
            result.Faults.Add("more failures that no fault explains");
        }
    }

    /// <summary>The first answer of the same grain after a call was sent; a new generation ends the history of its keys.</summary>
    private static long? NextAnswer(Dictionary<(Cluster.Role, long), long[]> answers, Call call)
    {
        if (!answers.TryGetValue((call.Kind, call.Key), out var times))
            return null;
        var at = Array.BinarySearch(times, call.From);
        at = at < 0 ? ~at : at;
        return at < times.Length && (call.Kind == Cluster.Role.Implicit || times[at] - call.From < ClientLoad.Generation.Ticks)
            ? times[at] : null;
    }

    private static KindResult KindOf(Window window, OutageResult result)
    {
        if (!result.Kinds.TryGetValue(window.Name, out var kind))
            result.Kinds.Add(window.Name, kind = new KindResult());
        return kind;
    }

    private static double Seconds(long ticks) => TimeSpan.FromTicks(ticks).TotalSeconds;
}
