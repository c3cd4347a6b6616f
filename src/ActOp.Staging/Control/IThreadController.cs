namespace ActOp.Staging.Control;

/// <summary>Decides, period by period, how many threads each stage has. Pure: no clock, no threads; one caller at a time.</summary>
public interface IThreadController
{
    /// <summary>Decides at the end of a period.</summary>
    /// <param name="stages">What the stages did in the period, always in the same order.</param>
    /// <returns>The threads of each stage from now on.</returns>
    ThreadDecision Decide(IReadOnlyList<StagePeriod> stages);
}
