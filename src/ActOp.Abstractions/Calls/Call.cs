using System.ComponentModel;
using System.Runtime.CompilerServices;
using ActOp.Wire;
using Orleans.CodeGeneration;
using Orleans.Runtime;

namespace ActOp.Calls;

/// <summary>
/// One call from the caller's method to its answer: the arguments (in the generated subclass), the way, the result and
/// the caller's continuation are one pooled object.
/// </summary>
/// <remarks>
/// Ownership moves along the path, and only the owner touches the fields: caller's thread (until sent) -> callee's
/// mailbox and turn (until <see cref="Publish"/>) -> caller's mailbox and turn (until the result is taken, which returns
/// the object to its pool). Two parties may race to complete a call: the callee and the sweep of timeouts and dead
/// silos. The one that wins <see cref="TryClaim"/> writes the result and publishes; a call that lost to the sweep is
/// never pooled again, because the callee may still hold it.
/// </remarks>
public abstract class Call : Work, IThreadPoolWorkItem
{
    /// <summary>Written into <see cref="_continuation"/> when the call completes before anybody awaits it.</summary>
    private static readonly Action<object?> Completed = static _ => { };

    internal CallRuntime? Runtime;
    internal GrainReference? Reference;
    internal CallHost? Caller;
    internal CallHost? Callee;
    internal RequestContextData? Context;

    /// <summary>Coarse time in ms of the runtime's clock after which the caller gets a TimeoutException; 0 for none.</summary>
    internal long Deadline;

    /// <summary>For calls from the wire: the link peer that gets the answer. For calls to the wire: the silo that was asked.</summary>
    internal object? Remote;

    /// <summary>For calls from the wire that were sent on: the silo that sent them on, which can reach the caller. Else null.</summary>
    internal Orleans.Runtime.SiloAddress? Via;

    /// <summary>For calls from the wire: the caller's own id of the call, sent back with the answer.</summary>
    internal ulong ReplyTo;

    /// <summary>For calls from the wire: who called. Calls of this process take it from <see cref="Caller"/>.</summary>
    internal GrainId RemoteSource;

    /// <summary>For calls from the wire: which grain is called. Calls of this process take it from <see cref="Reference"/>.</summary>
    internal GrainId RemoteTarget;

    internal InvokeMethodOptions Flags;
    internal CallOrigin Origin;
    internal CallStep Step;
    internal byte Forwards;

    /// <summary>The sender found the grain nowhere and chose the receiving silo for it: it is activated there.</summary>
    internal bool PlacedHere;

    /// <summary>True when the arguments no longer belong to the caller: copied, read from the wire, or immutable.</summary>
    internal bool ArgumentsIsolated;

    /// <summary>True when nobody but the garbage collector may take the object back.</summary>
    internal bool Unpooled;

    /// <summary>True when the answer completes a <see cref="Task"/> instead of an awaited <see cref="ValueTask"/>.</summary>
    internal bool AnswersTask;

    /// <summary>The callee's (or the runtime's) exception, or null.</summary>
    internal Exception? Error;

    /// <summary>Counts the uses of the pooled object; its low 16 bits are the token of the value task.</summary>
    internal int Version;

    /// <summary>Place in the <see cref="CallRegistry"/>, for life; -1 when it has none.</summary>
    internal int Slot = -1;

    private int _claimedVersion = -1;
    private Action<object?>? _continuation;
    private object? _continuationState;
    private object? _continuationContext;

    /// <summary>The grain that is called.</summary>
    internal GrainId TargetId => Reference is { } reference ? reference.GrainId : RemoteTarget;

    /// <summary>The grain or client that calls; default when unknown.</summary>
    internal GrainId SourceId => Caller is { } caller ? caller.HostId : RemoteSource;

    internal bool IsOneWay => (Flags & InvokeMethodOptions.OneWay) != 0;

    /// <summary>Name and id of the method, one object per method.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public abstract CallMethod Method { get; }

    /// <summary>Runs the method on its target; true when it ended synchronously (<see cref="Error"/> or the result is set).</summary>
    internal abstract bool Start();

    /// <summary>Takes the result of a method that ended asynchronously.</summary>
    internal abstract void TakeResult();

    /// <summary>The result as filters see it.</summary>
    internal abstract object? BoxedResult { get; set; }

    /// <summary>Set in <see cref="CallMethod.Options"/> by generated code when the method's return value is [Immutable].</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public const InvokeMethodOptions ImmutableResult = (InvokeMethodOptions)0x100;

    internal abstract void CopyResult(CopyContext context);

    internal abstract void WriteResult(ref WireWriter writer);

    internal abstract void ReadResult(ref WireReader reader);

    /// <summary>Completes the caller's Task (only when <see cref="AnswersTask"/>), inside the caller's turn.</summary>
    internal abstract void CompleteTask();

    /// <summary>Sends the call by <paramref name="route"/> and waits for its result; for calls that filters send.</summary>
    internal abstract ValueTask<object?> RouteBoxed(Action<Call, object> route, object state);

    /// <summary>Clears the call and returns it to its pool. Generated.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public abstract void Recycle();

    /// <summary>Deep-copies the arguments in place. Generated; empty when all are immutable.</summary>
    public virtual void CopyArguments(CopyContext context)
    {
    }

    /// <summary>Writes the arguments. Generated; empty without arguments.</summary>
    /// <param name="writer">Where to.</param>
    public virtual void WriteArguments(ref WireWriter writer)
    {
    }

    /// <summary>Reads the arguments. Generated; empty without arguments.</summary>
    /// <param name="reader">Where from; ends with the arguments.</param>
    public virtual void ReadArguments(ref WireReader reader)
    {
    }

    /// <summary>True for the one that may complete use <paramref name="version"/> of this call.</summary>
    internal bool TryClaim(int version)
    {
        var before = version - 1;
        return Interlocked.CompareExchange(ref _claimedVersion, version, before) == before;
    }

    /// <summary>True when use <paramref name="version"/> has not been completed yet.</summary>
    internal bool IsPending(int version) => Volatile.Read(ref _claimedVersion) == version - 1 && Volatile.Read(ref Version) == version;

    internal bool IsClaimed => Volatile.Read(ref _claimedVersion) == Version;

    /// <summary>Hands the completed call to whoever waits. The caller of this must have won <see cref="TryClaim"/>, and may not touch the call afterwards.</summary>
    internal void Publish()
    {
        switch (Origin)
        {
            case CallOrigin.Remote:
                Runtime!.SendReply(this);
                return;
            case CallOrigin.Nobody:
                Recycle();
                return;
        }

        if (AnswersTask)
            Deliver(Caller);
        else if (Interlocked.CompareExchange(ref _continuation, Completed, null) is not null)
            Deliver(_continuationContext);
    }

    /// <summary>
    /// Completes a call that the callee may still hold (a timeout): like <see cref="Publish"/>, but the object itself goes
    /// into no second mailbox. The caller of this must have won <see cref="TryClaim"/>.
    /// </summary>
    internal void PublishAbandoned()
    {
        Unpooled = true;
        if (Origin != CallOrigin.Local)
            return;
        if (AnswersTask)
            DeliverAbandoned(Caller);
        else if (Interlocked.CompareExchange(ref _continuation, Completed, null) is not null)
            DeliverAbandoned(_continuationContext);
    }

    /// <inheritdoc/>
    void IThreadPoolWorkItem.Execute() => ResumeCaller();

    internal override void Run(CallHost host) => ResumeCaller();

    /// <summary>Goes on with the caller; runs in the caller's turn, or on an application thread.</summary>
    internal void ResumeCaller()
    {
        if (AnswersTask)
        {
            CompleteTask();
            return;
        }

        var continuation = _continuation!;
        var state = _continuationState;
        continuation(state);
    }

    internal bool HasCompleted(short token)
    {
        CheckToken(token);
        return IsClaimed && ReferenceEquals(Volatile.Read(ref _continuation), Completed);
    }

    internal void Await(Action<object?> continuation, object? state, short token, bool onContext)
    {
        CheckToken(token);
        _continuationState = state;
        _continuationContext = onContext ? CaptureContext() : null;
        if (Interlocked.CompareExchange(ref _continuation, continuation, null) is null)
            return;
        _continuation = continuation;
        Deliver(_continuationContext);
    }

    /// <summary>Ends the use of the object by the caller: throws the error or lets the subclass return the result.</summary>
    internal void CheckToken(short token)
    {
        if ((short)Version != token)
            throw new InvalidOperationException("The value task of a grain call was awaited twice or after its result was taken.");
    }

    /// <summary>Prepares the object for its next use; called by <see cref="Recycle"/>. False when nobody but the collector may take it.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected bool ResetForReuse()
    {
        if (Unpooled || Slot < 0)
            return false;
        Runtime = null;
        Reference = null;
        Caller = null;
        Callee = null;
        Context = null;
        Remote = null;
        Via = null;
        Error = null;
        Deadline = 0;
        Flags = InvokeMethodOptions.None;
        Origin = CallOrigin.Local;
        Step = CallStep.Request;
        Forwards = 0;
        PlacedHere = false;
        ArgumentsIsolated = false;
        AnswersTask = false;
        _continuation = null;
        _continuationState = null;
        _continuationContext = null;
        Volatile.Write(ref _claimedVersion, Version);
        Volatile.Write(ref Version, Version + 1);
        return true;
    }

    private static object? CaptureContext()
    {
        if (CallHost.Current is { } host)
            return host;
        if (SynchronizationContext.Current is { } context && context.GetType() != typeof(SynchronizationContext))
            return context;
        return TaskScheduler.Current == TaskScheduler.Default ? null : TaskScheduler.Current;
    }

    private void DeliverAbandoned(object? context)
    {
        if (context is CallHost host)
            host.Enqueue(new AbandonedCall(this));
        else
            Deliver(context);
    }

    private void Deliver(object? context)
    {
        if (!Unpooled)
            Step = CallStep.Resume;
        switch (context)
        {
            case CallHost host:
                host.Enqueue(Unpooled ? new AbandonedCall(this) : this);
                break;
            case SynchronizationContext synchronizationContext:
                synchronizationContext.Post(static state => ((Call)state!).ResumeCaller(), this);
                break;
            case TaskScheduler scheduler:
                Task.Factory.StartNew(static state => ((Call)state!).ResumeCaller(), this, CancellationToken.None, TaskCreationOptions.DenyChildAttach, scheduler);
                break;
            default:
                Runtime!.Resume(this);
                break;
        }
    }
}
