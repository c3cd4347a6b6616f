using ActOp.Staging.Model;

namespace ActOp.Staging.Control;

/// <summary>Decides at the end of each period how many threads each stage has. Pure: no clock, no threads; one caller at a time.</summary>
public interface IThreadController
{
    /// <summary>Decides at the end of a period.</summary>
    /// <param name="stages">What the stages did in the period, always in the same order.</param>
    /// <returns>The threads of each stage from now on.</returns>
    ThreadDecision Decide(IReadOnlyList<StagePeriod> stages);
}

/// <summary>What a stage did in one period.</summary>
/// <param name="Threads">Its threads.</param>
/// <param name="Queued">Events that wait at the end of the period.</param>
/// <param name="Demand">Its load. All zero when there was nothing to measure.</param>
/// <param name="Held">Threads that run one event for so long that the demand does not contain it.</param>
/// <param name="Fewest">The fewest threads that it needs whatever its load is.</param>
public readonly record struct StagePeriod(int Threads, int Queued, StageDemand Demand, int Held = 0, int Fewest = 1);

/// <summary>The threads of each stage from now on.</summary>
/// <param name="Threads">For each stage, in the order given; at least 1.</param>
/// <param name="Reason">The reason, for the log.</param>
public sealed record ThreadDecision(IReadOnlyList<int> Threads, string Reason);

/// <summary>A fixed number of threads. With one thread per core and stage it is the paper's baseline (section 3).</summary>
/// <param name="threads">For each stage; at least 1.</param>
public sealed class FixedController(IReadOnlyList<int> threads) : IThreadController
{
    private readonly ThreadDecision _decision = threads.All(static count => count >= 1)
        ? new([.. threads], "fixed") : throw new ArgumentOutOfRangeException(nameof(threads), "Every stage has at least one thread.");

    /// <inheritdoc/>
    public ThreadDecision Decide(IReadOnlyList<StagePeriod> stages) => _decision;
}

/// <summary>
/// Adds a thread to a stage with a long queue and removes one from a stage with a short queue: the baseline of the paper (section 5.1,
/// Figure 7), after Welsh. The paper's period is 30 seconds.
/// </summary>
/// <param name="high">T_h: a longer queue gets a thread. The paper: 100 events.</param>
/// <param name="low">T_l: a shorter queue loses one. The paper: 10 events.</param>
/// <param name="maximum">The most threads of a stage.</param>
public sealed class QueueLengthController(int high, int low, int maximum) : IThreadController
{
    private readonly int _high = high >= low
        ? high : throw new ArgumentOutOfRangeException(nameof(high), high, "The high threshold must not be below the low one.");
    private readonly int _maximum = maximum >= 1
        ? maximum : throw new ArgumentOutOfRangeException(nameof(maximum), maximum, "A stage has at least one thread.");

    /// <inheritdoc/>
    public ThreadDecision Decide(IReadOnlyList<StagePeriod> stages) => new(
        [.. stages.Select(stage => Math.Clamp(stage.Threads + Step(stage.Queued), Math.Min(stage.Fewest, _maximum), _maximum))],
        "queues " + string.Join('/', stages.Select(static stage => stage.Queued)));

    private int Step(int queued) => queued > _high ? 1 : queued < low ? -1 : 0;
}
