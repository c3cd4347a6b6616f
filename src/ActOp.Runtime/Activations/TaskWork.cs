using ActOp.Calls;

namespace ActOp.Runtime.Activations;

/// <summary>A task or continuation of grain code, waiting for a turn.</summary>
internal sealed class TaskWork(Task task) : Work
{
    internal override void Run(CallHost host) => ((Activation)host).RunTask(task);
}
