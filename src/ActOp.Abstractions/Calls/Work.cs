namespace ActOp.Calls;

/// <summary>
/// One item of a mailbox: a request, an answer, a task or a control step. The link lives in the item, so that putting
/// an item into a mailbox allocates nothing.
/// </summary>
/// <remarks>
/// Owner: whoever holds the item. While it is in a mailbox, the mailbox owns <see cref="Next"/> and nobody else may
/// touch the item; an item is in at most one mailbox at a time.
/// </remarks>
public abstract class Work
{
    internal Work? Next;

    /// <summary>How many items the mailbox's inbox held when this one was pushed, itself included.</summary>
    internal int Depth;

    /// <summary>Runs the item. Called by the turn loop of <paramref name="host"/>, inside a turn.</summary>
    internal abstract void Run(CallHost host);
}
