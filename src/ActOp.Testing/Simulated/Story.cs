using System.Globalization;
using System.Text;

namespace ActOp.Testing.Simulated;

/// <summary>A message between two that take part in a story: the test, grains and storage.</summary>
/// <param name="From">Who sends it.</param>
/// <param name="To">Who gets it, or would get it.</param>
/// <param name="Text">What it says, shortly.</param>
/// <param name="IsLost">It does not arrive, or says that something has failed.</param>
internal readonly record struct Arrow(string From, string To, string Text, bool IsLost = false);

/// <summary>One thing that happened.</summary>
/// <param name="Step">The step of the pump.</param>
/// <param name="Time">In ticks.</param>
/// <param name="Who">To whom it happened.</param>
/// <param name="What">In words.</param>
/// <param name="Arrow">The same as a message, if it is one.</param>
internal sealed record StoryLine(long Step, long Time, string Who, string What, Arrow? Arrow)
{
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture, $"  step {Step,7}  {Time / (double)Pump.Second,9:F4} s  {Who} {What}");
}

/// <summary>What happened in one run, in words: each line with its step and its time.</summary>
/// <remarks>
/// Owns the lines, at most as many as are shown: the first half, and the last ones. Only the thread of the pump adds lines.
/// </remarks>
internal sealed class Story(Pump pump, int most)
{
    private readonly List<StoryLine> _first = [];
    private readonly Queue<StoryLine> _last = new();
    private long _left;

    /// <summary>What is shown, in its order.</summary>
    internal IReadOnlyList<StoryLine> Lines => [.. _first, .. _last];

    internal void Add(string who, string what, Arrow? arrow = null)
    {
        var line = new StoryLine(pump.Events, pump.Now, who, what, arrow);
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
            text.AppendLine(line.ToString());
        if (_left > 0)
            text.AppendLine(CultureInfo.InvariantCulture, $"  ... {_left} lines are left out (SimulationBudget.StoryLines)");
        foreach (var line in _last)
            text.AppendLine(line.ToString());
        return text.ToString();
    }
}

/// <summary>A condition of the test does not hold.</summary>
/// <param name="text">What is wrong.</param>
/// <param name="kind">What does not change when faults and commands are left out; null for the text without its numbers.</param>
internal sealed class CheckFailedException(string text, string? kind = null) : Exception(text)
{
    internal string? Kind => kind;
}

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

    /// <inheritdoc cref="RandomFaults.Moments"/>
    internal required IReadOnlyDictionary<char, List<int>> Moments { get; init; }

    /// <inheritdoc cref="RandomFaults.Messages"/>
    internal required int Messages { get; init; }

    /// <summary>The commands that ran, in order.</summary>
    internal required IReadOnlyList<int> Commands { get; init; }

    /// <inheritdoc cref="SimulatedRun.Situations"/>
    internal required IReadOnlyDictionary<string, bool> Situations { get; init; }

    /// <summary>Null if it was not recorded.</summary>
    internal required Story? Story { get; init; }
}
