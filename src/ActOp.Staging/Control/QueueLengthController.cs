namespace ActOp.Staging.Control;

/// <summary>
/// A thread more for a stage with a long queue, one less for a stage with a short one: the baseline of the paper (section 5.1, Figure 7),
/// after Welsh. The paper looks every 30 seconds.
/// </summary>
/// <param name="high">T_h: a longer queue gets a thread. The paper: 100 events.</param>
/// <param name="low">T_l: a shorter queue loses one. The paper: 10 events.</param>
/// <param name="maximum">The most threads of a stage.</param>
public sealed class QueueLengthController(int high, int low, int maximum) : IThreadController
{
    private readonly int _high = high >= low ? high : throw new ArgumentOutOfRangeException(nameof(high), high, "The high threshold is not below the low one.");
    private readonly int _maximum = maximum >= 1 ? maximum : throw new ArgumentOutOfRangeException(nameof(maximum), maximum, "A stage has at least one thread.");

    /// <inheritdoc/>
    public ThreadDecision Decide(IReadOnlyList<StagePeriod> stages) => new(
        [.. stages.Select(stage => Math.Clamp(stage.Threads + Step(stage.Queued), 1, _maximum))],
        "queues " + string.Join('/', stages.Select(static stage => stage.Queued)));

    private int Step(int queued) => queued > _high ? 1 : queued < low ? -1 : 0;
}
