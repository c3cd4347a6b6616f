using System.Runtime.CompilerServices;

namespace ActOp.Calls;

/// <summary>
/// Sends calls and gets answers on its own turns: an activation. It is also the task scheduler that code on its turns sees, because a
/// separate scheduler would be one more object for every grain in memory.
/// </summary>
/// <remarks>
/// The host sets <see cref="Current"/> for the duration of a turn. Code that must know for which host the thread runs reads it.
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

    /// <summary>
    /// True while the host accepts requests. Any thread may read it, as a racy snapshot: the host itself checks each request again.
    /// </summary>
    internal volatile bool Accepts;

    /// <summary>Puts an item into the mailbox. Never refused, so that a host gets the answers to its calls. Any thread.</summary>
    internal abstract void Enqueue(MailboxItem item);

    /// <summary>Finishes a request whose method has ended asynchronously. On a turn of this host.</summary>
    internal abstract void FinishInTurn(Call call);

    /// <summary>Cancels a request that waits or runs here. On a turn of this host.</summary>
    internal abstract void CancelInTurn(CallCancellation cancellation);

    /// <summary>The grain of this host.</summary>
    internal abstract Orleans.Runtime.GrainId HostId { get; }
}

/// <summary>
/// One item of a mailbox: a request, an answer, a task or a step of the runtime. The link to the next item is in the item itself, so an
/// item is put into a mailbox without an allocation.
/// </summary>
/// <remarks>
/// An item is in at most one mailbox at a time. While it is in one, the mailbox owns <see cref="Next"/> and <see cref="Depth"/>.
/// </remarks>
public abstract class MailboxItem
{
    internal MailboxItem? Next;

    /// <summary>The number of items in the inbox when this one was pushed, including itself.</summary>
    internal int Depth;

    /// <summary>Runs the item, on a turn of <paramref name="host"/>.</summary>
    internal abstract void Run(CallHost host);
}

/// <summary>Carries the outcome of an abandoned call: the call object itself may still be in the mailbox of the callee.</summary>
internal sealed class AbandonedCall(Call call) : MailboxItem
{
    internal override void Run(CallHost host) => call.ResumeCaller();
}

/// <summary>Checks what code of the application has given or returned, so that the exception says who is wrong. Any thread.</summary>
internal static class Given
{
    /// <summary>An argument, for methods of one expression.</summary>
    /// <exception cref="ArgumentNullException">It is null.</exception>
    internal static T NotNull<T>(T? argument, [CallerArgumentExpression(nameof(argument))] string name = "")
        where T : class
    {
        ArgumentNullException.ThrowIfNull(argument, name);
        return argument;
    }

    /// <summary>The task that <paramref name="call"/> has returned.</summary>
    /// <exception cref="InvalidOperationException">It has returned null.</exception>
    internal static Task Task(Task? task, [CallerArgumentExpression(nameof(task))] string call = "") => task ?? throw NoTask(call);

    /// <inheritdoc cref="Task(System.Threading.Tasks.Task?, string)"/>
    internal static Task<T> Task<T>(Task<T>? task, [CallerArgumentExpression(nameof(task))] string call = "") =>
        task ?? throw NoTask(call);

    internal static InvalidOperationException NoTask(string call) => new(call + " returned null instead of a task.");
}
