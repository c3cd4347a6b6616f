namespace ActOp.Calls;

/// <summary>
/// What sends calls and gets answers on its own turns: an activation. It is the task scheduler that code on its turns sees; a scheduler of
/// its own would be one more object for every grain in memory.
/// </summary>
/// <remarks>
/// <see cref="Current"/> is set by the worker for the length of a turn, and read by everything that must know on whose
/// behalf the thread runs.
/// </remarks>
public abstract class CallHost : TaskScheduler
{
    [ThreadStatic]
    private static CallHost? t_current;

    /// <summary>The host whose turn runs on this thread, or null outside of turns.</summary>
    internal static new CallHost? Current
    {
        get => t_current;
        set => t_current = value;
    }

    /// <summary>True while the host accepts requests. Read without a lock; a false positive is corrected by the host itself.</summary>
    internal volatile bool Accepts;

    /// <summary>Puts an answer or another step into the mailbox. Never refused: whoever sent a call can get its answer.</summary>
    internal abstract void Enqueue(MailboxItem item);

    /// <summary>Ends a request whose method ended asynchronously on this host's own turn.</summary>
    internal abstract void FinishInTurn(Call call);

    /// <summary>The grain that this host stands for.</summary>
    internal abstract Orleans.Runtime.GrainId HostId { get; }
}

/// <summary>
/// One item of a mailbox: a request, an answer, a task or a control step. The link lives in the item, so that putting
/// an item into a mailbox allocates nothing.
/// </summary>
/// <remarks>
/// Owner: whoever holds the item. While it is in a mailbox, the mailbox owns <see cref="Next"/> and nobody else may
/// touch the item; an item is in at most one mailbox at a time.
/// </remarks>
public abstract class MailboxItem
{
    internal MailboxItem? Next;

    /// <summary>How many items the mailbox's inbox held when this one was pushed, itself included.</summary>
    internal int Depth;

    /// <summary>Runs the item. Called by the turn loop of <paramref name="host"/>, inside a turn.</summary>
    internal abstract void Run(CallHost host);
}

/// <summary>Carries the answer of a call whose object may still be in the callee's mailbox.</summary>
internal sealed class AbandonedCall(Call call) : MailboxItem
{
    internal override void Run(CallHost host) => call.ResumeCaller();
}
