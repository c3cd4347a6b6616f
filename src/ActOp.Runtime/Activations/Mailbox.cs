using ActOp.Calls;

namespace ActOp.Runtime.Activations;

/// <summary>A step of the runtime that must happen on a turn of the activation.</summary>
internal sealed class ActionItem(Action<object?> action, object? state) : MailboxItem
{
    internal override void Run(CallHost host) => action(state);
}

/// <summary>A task or continuation of grain code, waiting for a turn.</summary>
internal sealed class TaskItem(Task task) : MailboxItem
{
    internal override void Run(CallHost host) => ((Activation)host).RunTask(task);
}
