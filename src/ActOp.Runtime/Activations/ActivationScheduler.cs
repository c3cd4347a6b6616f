using ActOp.Calls;

namespace ActOp.Runtime.Activations;

/// <summary>
/// The task scheduler that code of a grain sees: tasks and continuations queued here run one at a time, on turns of the
/// activation.
/// </summary>
internal sealed class ActivationScheduler : TaskScheduler
{
    private readonly Activation _activation;
    private bool _anchored;

    internal ActivationScheduler(Activation activation)
    {
        _activation = activation;
        Anchor = new Task(static () => { }, TaskCreationOptions.DenyChildAttach);
        Anchor.Start(this);
        _anchored = true;
    }

    /// <summary>
    /// A task that never runs: while it is the thread's current task, <see cref="TaskScheduler.Current"/> is this scheduler.
    /// </summary>
    internal Task Anchor { get; }

    public override int MaximumConcurrencyLevel => 1;

    internal void Run(Task task) => TryExecuteTask(task);

    protected override void QueueTask(Task task)
    {
        if (_anchored)
            _activation.Enqueue(new TaskWork(this, task));
    }

    protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) =>
        !taskWasPreviouslyQueued && ReferenceEquals(CallHost.Current, _activation) && TryExecuteTask(task);

    protected override IEnumerable<Task> GetScheduledTasks() => [];
}
