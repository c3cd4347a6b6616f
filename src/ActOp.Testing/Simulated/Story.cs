using System.Globalization;
using System.Text;

namespace ActOp.Testing.Simulated;

/// <summary>What happened in one run, in words: each line with its step and its time.</summary>
/// <remarks>
/// Owns the lines, at most twice as many as are shown: the first half, and the last ones. Only the thread of the pump adds lines.
/// </remarks>
internal sealed class Story(Pump pump, int most)
{
    private readonly List<string> _first = [];
    private readonly Queue<string> _last = new();
    private long _left;

    internal void Add(string who, string what)
    {
        var line = string.Create(
            CultureInfo.InvariantCulture, $"  step {pump.Events,7}  {pump.Now / (double)Pump.Second,9:F4} s  {who} {what}");
        if (_first.Count < most / 2)
        {
            _first.Add(line);
            return;
        }

        _last.Enqueue(line);
        if (_last.Count <= most - (most / 2))
            return;
        _last.Dequeue();
        _left++;
    }

    public override string ToString()
    {
        var text = new StringBuilder();
        foreach (var line in _first)
            text.AppendLine(line);
        if (_left > 0)
            text.AppendLine(CultureInfo.InvariantCulture, $"  ... {_left} lines are left out (SimulationBudget.StoryLines)");
        foreach (var line in _last)
            text.AppendLine(line);
        return text.ToString();
    }
}

/// <summary>A condition of the test does not hold.</summary>
internal sealed class CheckFailedException(string text) : Exception(text);

/// <summary>Why a run has failed.</summary>
/// <param name="Kind">What is compared when a failure is reduced: a kind, and what does not change from run to run.</param>
/// <param name="Text">For people, in one line.</param>
/// <param name="Cause">The exception of the test; null if there is none.</param>
internal sealed record RunFailure(string Kind, string Text, Exception? Cause)
{
    /// <summary>False where a run has kept the thread pool, or its real time is over: another one would do the same.</summary>
    internal bool MayBeReduced => Kind is not ("hang" or "real time" or "engine");
}

/// <summary>What a run came to.</summary>
internal sealed record RunOutcome(ulong Seed, RunPlan Plan, RunFailure? Failure)
{
    internal required ulong Hash { get; init; }

    internal required long Steps { get; init; }

    internal required long Calls { get; init; }

    internal required TimeSpan Simulated { get; init; }

    /// <summary>The faults that happened, in order.</summary>
    internal required IReadOnlyList<string> Faults { get; init; }

    /// <summary>The commands that ran, in order.</summary>
    internal required IReadOnlyList<int> Commands { get; init; }

    /// <inheritdoc cref="SimulatedRun.Situations"/>
    internal required IReadOnlyDictionary<string, bool> Situations { get; init; }

    /// <summary>Empty if it was not recorded.</summary>
    internal required string Story { get; init; }
}
