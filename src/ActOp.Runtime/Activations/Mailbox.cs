using System.Runtime.CompilerServices;
using ActOp.Calls;

namespace ActOp.Runtime.Activations;

/// <summary>The queue of one activation: the items that have arrived and that its turns have not run yet.</summary>
/// <remarks>
/// <para>Owns the two lists below, and <see cref="MailboxItem.Next"/> of the items in them. Any thread may push and read
/// <see cref="IsIdle"/> and <see cref="ArrivedCount"/>. Only the turn of the activation calls <see cref="TakeItem"/>.</para>
/// <para>The inbox is a stack. A thread pushes to it with one compare-and-swap. The marker <see cref="Idle"/> in it means that nothing is
/// queued and that the stage does not have the activation, so the thread that replaces the marker posts the activation. The turn takes the
/// whole stack at once and reverses it, which restores the order of arrival.</para>
/// <para>A field of <see cref="Activation"/>, never copied: a silo has a million of them.</para>
/// </remarks>
internal struct Mailbox
{
    private static readonly MailboxItem Idle = new ActionItem(static _ => { }, null);

    /// <summary>What has arrived, the latest first; null while a turn runs and nothing has arrived; or <see cref="Idle"/>.</summary>
    private MailboxItem? _inbox;

    /// <summary>What the turn has taken from the inbox and not run yet, the oldest first.</summary>
    private MailboxItem? _ready;

    public Mailbox() => _inbox = Idle;

    /// <summary>Nothing is queued and no turn runs. A racy snapshot.</summary>
    internal bool IsIdle => ReferenceEquals(Volatile.Read(ref _inbox), Idle);

    /// <summary>Items that have arrived since the turn last emptied the inbox. A racy snapshot.</summary>
    internal int ArrivedCount => Volatile.Read(ref _inbox)?.Depth ?? 0;

    /// <summary>Adds an item. True if the activation was idle: the caller must post it to its stage.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool Push(MailboxItem item) => TryPush(item, int.MaxValue) == PushResult.WasIdle;

    /// <summary>Adds an item, unless as many as the limit have arrived since the turn last emptied the inbox.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal PushResult TryPush(MailboxItem item, int limit)
    {
        while (true)
        {
            var head = Volatile.Read(ref _inbox);
            if (head is null || ReferenceEquals(head, Idle))
            {
                item.Next = null;
                item.Depth = 1;
            }
            else
            {
                var depth = Volatile.Read(ref head.Depth);
                if (depth >= limit)
                {
                    // Otherwise the turn has taken the item meanwhile, and the depth may be that of another mailbox.
                    if (ReferenceEquals(Volatile.Read(ref _inbox), head))
                        return PushResult.Refused;
                    continue;
                }

                item.Next = head;
                item.Depth = depth + 1;
            }

            if (ReferenceEquals(Interlocked.CompareExchange(ref _inbox, item, head), head))
                return ReferenceEquals(head, Idle) ? PushResult.WasIdle : PushResult.Queued;
        }
    }

    /// <summary>
    /// Removes the oldest item. Null if there is none: the activation is idle from then on, and the turn must end. On the turn.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal MailboxItem? TakeItem()
    {
        var item = _ready ?? TakeInbox();
        if (item is null)
            return null;
        if (Invariant.AreChecked)
            Invariant.Holds(!ReferenceEquals(item, Idle));
        _ready = item.Next;
        item.Next = null;
        return item;
    }

    /// <summary>The oldest item, which stays. On the turn, before the first <see cref="TakeItem"/> of it.</summary>
    internal MailboxItem? First() => _ready ??= TakeInbox();

    /// <summary>Items wait. On the turn.</summary>
    internal bool HasMore => _ready is not null || Volatile.Read(ref _inbox) is not null;

    /// <summary>Everything that has arrived, the oldest first; or marks the activation as idle and returns null.</summary>
    private MailboxItem? TakeInbox()
    {
        // Usually nothing has arrived during the turn.
        if (Volatile.Read(ref _inbox) is null && Interlocked.CompareExchange(ref _inbox, Idle, null) is null)
            return null;

        // Only the turn empties the inbox.
        var stack = Interlocked.Exchange(ref _inbox, null);
        if (Invariant.AreChecked)
            Invariant.Holds(stack is not null && !ReferenceEquals(stack, Idle));
        MailboxItem? oldest = null;
        while (stack is not null)
        {
            var next = stack.Next;
            stack.Next = oldest;
            oldest = stack;
            stack = next;
        }

        return oldest;
    }
}

/// <summary>What <see cref="Mailbox.TryPush"/> has done.</summary>
internal enum PushResult
{
    /// <summary>Added; a turn runs, or the stage has the activation.</summary>
    Queued,

    /// <summary>Added; the caller must post the activation to its stage.</summary>
    WasIdle,

    /// <summary>Not added: the mailbox is full.</summary>
    Refused,
}

/// <summary>A step of the runtime that must run on a turn of the activation.</summary>
internal sealed class ActionItem(Action<object?> action, object? state) : MailboxItem
{
    internal override void Run(CallHost host) => action(state);
}

/// <summary>A task or a continuation of grain code that waits for a turn.</summary>
internal sealed class TaskItem(Task task) : MailboxItem
{
    internal override void Run(CallHost host) => ((Activation)host).RunTask(task);
}
