using ActOp.Calls;
using ActOp.Interleaving.Tests.Exploring;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>
/// A grain with a real mailbox. Its visits and turns are those of the real activation, as far as threads are concerned: it runs a few
/// items, goes back to its stage, and marks itself as idle only by the mailbox.
/// </summary>
internal sealed class Activation(string name, Action<Activation> post, int limit = int.MaxValue) : CallHost, IBuffered
{
    /// <summary>Items of a visit.</summary>
    private const int Quantum = 2;

    private readonly List<string> _findings = [];
    private Mailbox _mailbox = new();
    private int _running;

    /// <summary>Runs a request that is taken from the mailbox.</summary>
    internal Action<Activation, Call>? Admit { get; init; }

    internal bool IsIdle => _mailbox.IsIdle;

    internal int ArrivedCount => _mailbox.ArrivedCount;

    internal string? Finding => _findings.FirstOrDefault();

    internal override GrainId HostId => new(name);

    /// <summary>Answers a call that did not run.</summary>
    internal static void Fail(Call call, Exception exception)
    {
        if (!call.TryClaim())
            return;
        call.Error = exception;
        call.Publish();
    }

    internal override void Enqueue(MailboxItem item)
    {
        if (_mailbox.Push(item))
            post(this);
    }

    /// <summary>As the real one: false if the mailbox is full.</summary>
    internal bool TryEnqueueRequest(MailboxItem item)
    {
        var result = _mailbox.TryPush(item, limit);
        if (result == PushResult.WasIdle)
            post(this);
        return result != PushResult.Refused;
    }

    /// <summary>One visit of the stage.</summary>
    internal void Execute()
    {
        if (++_running > 1)
            _findings.Add("two turns of " + name + " run at the same time");
        var more = RunItems();
        _running--;
        if (more)
            post(this);
    }

    internal override void FinishInTurn(Call call)
    {
        if (!call.TryClaim())
            return;
        call.Publish();
    }

    internal override void CancelInTurn(CallCancellation cancellation)
    {
        if (cancellation.HasStarted)
            cancellation.Source?.Cancel();
        else
            Fail(cancellation.Call, Calls.Cancellations.NeverRan(cancellation.Call));
    }

    internal void RunTask(Task task) => throw new NotSupportedException("No model has tasks: " + task.Status);

    public object Pend(PendingStore store) => new PendingHost(store);

    protected override void QueueTask(Task task) => throw new NotSupportedException("No model has tasks.");

    protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) => false;

    protected override IEnumerable<Task> GetScheduledTasks() => [];

    private bool RunItems()
    {
        for (var left = Quantum; left > 0; left--)
        {
            if (_mailbox.TakeItem() is not { } item)
                return false;
            Run(item);
        }

        return true;
    }

    private void Run(MailboxItem item)
    {
        if (Interleaver.IsModelled)
            Interleaver.Current.Step();
        if (item is not Call call)
            item.Run(this);
        else if (call.Step == CallStep.Resume)
            call.ResumeCaller();
        else if (call.Step == CallStep.Finish)
            FinishInTurn(call);
        else
            Admit!(this, call);
    }

    /// <summary>Stands in a place while the store of the activation waits.</summary>
    private sealed class PendingHost(PendingStore store) : CallHost, IPending
    {
        public object? Seen => store.Seen;

        internal override GrainId HostId => default;

        internal override void Enqueue(MailboxItem item) => throw new NotSupportedException(nameof(Enqueue));

        internal override void FinishInTurn(Call call) => throw new NotSupportedException(nameof(FinishInTurn));

        internal override void CancelInTurn(CallCancellation cancellation) => throw new NotSupportedException(nameof(CancelInTurn));

        protected override void QueueTask(Task task) => throw new NotSupportedException(nameof(QueueTask));

        protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) => false;

        protected override IEnumerable<Task> GetScheduledTasks() => [];
    }
}

/// <summary>The grains of a node: none is found.</summary>
internal sealed class ActivationTable
{
    internal bool TryGet(GrainId id, out Activation? activation)
    {
        activation = null;
        return id.IsDefault;
    }
}

/// <summary>The work stage of a node.</summary>
internal sealed class WorkStage
{
    private readonly Queue<Activation> _queue = new();

    internal bool IsEmpty => _queue.Count == 0;

    internal void Post(Activation activation)
    {
        Point.Fence("stage");
        _queue.Enqueue(activation);
    }

    /// <summary>A thread of the stage. It waits at the end of a schedule.</summary>
    internal void Work()
    {
        while (true)
        {
            Interleaver.Current.Block(() => _queue.Count > 0, isLock: false);
            _queue.Dequeue().Execute();
        }
    }
}
