using ActOp.Staging;

namespace ActOp.Runtime.Hosting;

/// <summary>A step of the runtime as an item of a stage.</summary>
internal sealed class StageAction(Action action) : IStageItem
{
    public void Execute() => action();
}
