namespace ActOp.Staging;

/// <summary>
/// Decides when the items of stages without threads run: the seam through which a simulation orders everything in one thread.
/// </summary>
/// <remarks>
/// All calls come from the threads that post or change stages; in a simulation that is its one thread. The driver runs what it was given
/// by <see cref="Stage.RunDriven"/> and <see cref="PollStage.StepOnce"/>, never from inside of one of its own methods, so that no item
/// runs inside another.
/// </remarks>
internal abstract class StageDriver
{
    /// <summary>An item is ready: it is to be run once.</summary>
    internal abstract void Post(Stage stage, IStageItem item);

    /// <summary>A thread of the stage would begin now: step <paramref name="index"/> may be made until it says false.</summary>
    internal abstract void Begin(PollStage stage, int index);

    /// <summary>What <see cref="Stage.IsAsleep"/> says. Default false: then nobody does the work of another stage on its own.</summary>
    internal virtual bool IsAsleep(Stage stage) => false;
}
