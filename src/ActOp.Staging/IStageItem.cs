namespace ActOp.Staging;

/// <summary>Something a stage runs. The stage never runs one item on two threads at once unless it was posted twice.</summary>
public interface IStageItem
{
    /// <summary>Runs the item on a thread of the stage. Must not throw: the stage reports and swallows what escapes.</summary>
    void Execute();
}
