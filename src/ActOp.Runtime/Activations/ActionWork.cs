using ActOp.Calls;

namespace ActOp.Runtime.Activations;

/// <summary>A step of the runtime that must happen on a turn of the activation.</summary>
internal sealed class ActionWork(Action<object?> action, object? state) : Work
{
    internal override void Run(CallHost host) => action(state);
}
