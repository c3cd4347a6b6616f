using System.ComponentModel;
using System.Runtime.CompilerServices;
using ActOp.Wire;
using Orleans.CodeGeneration;
using Orleans.Runtime;

namespace ActOp.Calls;

/// <summary>
/// One call, from the method of the caller to its answer. Arguments (in the generated subclass), routing data, result and the
/// continuation of the caller are one pooled object.
/// </summary>
/// <remarks>
/// <para>Only the owner of a call touches its fields, and the ownership moves along the path: the thread of the caller until the call is
/// sent, the mailbox and the turn of the callee until <see cref="Publish"/>, the mailbox and the turn of the caller until it takes the
/// result, which returns the object to its pool.</para>
/// <para>A call that a caller of this process waits for is in the <see cref="CallRegistry"/> while it is in flight. Several parties may
/// race to end it: the callee, the reader of answers, the sweep of timeouts and dead silos. The one that wins <see cref="TryClaim(long)"/>,
/// which also removes the call from the registry, writes the outcome and publishes it.</para>
/// <para>A call that was ended by another party than its holder (<see cref="Abandon"/>) never returns to a pool. The holder continues to
/// use the object until it sees the claim; what it writes has no effect.</para>
/// </remarks>
public abstract class Call : MailboxItem, IThreadPoolWorkItem
{
    /// <summary>In <see cref="_continuation"/>: the call has completed before it was awaited.</summary>
    private static readonly Action<object?> Completed = static _ => { };

    /// <summary>In <see cref="_ticket"/>: the call is claimed.</summary>
    internal const long Claimed = 0;

    /// <summary>In <see cref="_ticket"/>: the call is not in the registry, so only its holder ends it.</summary>
    private const long Unregistered = 1;

    internal CallRuntime? Runtime;
    internal GrainReference? Reference;
    internal CallHost? Caller;
    internal CallHost? Callee;
    internal RequestContextData? Context;

    /// <summary>
    /// The trace that the callee continues, as the runtime's tracing has made it, or null; while the request runs, the callee's span.
    /// </summary>
    internal object? Trace;

    /// <summary>
    /// Time of the coarse clock, in ms, after which no caller waits for the answer. Unused for one-way calls.
    /// </summary>
    internal long Deadline;

    /// <summary>
    /// A time stamp from when the call was made; 0 if nobody listened to the times of calls then, <see cref="Unmeasured"/> if only its span
    /// ends with the answer.
    /// </summary>
    internal long Began;

    /// <summary>In <see cref="Began"/>.</summary>
    internal const long Unmeasured = -1;

    /// <summary>For calls from the wire: the peer that gets the answer. For calls to the wire: the silo that owes the answer.</summary>
    internal object? Remote;

    /// <summary>
    /// For calls from the wire that were forwarded: the silo that forwarded them, which can reach the caller. Otherwise null.
    /// </summary>
    internal Orleans.Runtime.SiloAddress? Via;

    /// <summary>
    /// For calls from the wire that come from a client: what the silo that has its link knows its process by, 0 if that is not known. The
    /// answer goes only to that process.
    /// </summary>
    internal ulong OriginMark;

    /// <summary>For calls from the wire: the ticket of the call at the caller, sent back with the answer.</summary>
    internal ulong ReplyTo;

    /// <summary>For calls from the wire: the grain that is called. Calls of this process have it in <see cref="Reference"/>.</summary>
    internal GrainId RemoteTarget;

    /// <summary>
    /// For calls from the wire: the interface of the caller, if it is another one than this process would assume; otherwise null.
    /// </summary>
    internal CalledInterface? CalledThrough;

    /// <summary>The group of the callee, while its limit counts the call as waiting; otherwise null.</summary>
    internal object? CountedIn;

    internal InvokeMethodOptions Flags;
    internal CallOrigin Origin;
    internal CallStep Step;
    internal byte Forwards;

    /// <summary>The sender found the grain nowhere and chose the receiving silo for it: it is activated there.</summary>
    internal bool PlacedHere;

    /// <summary>True when the arguments no longer belong to the caller: copied, read from the wire, or immutable.</summary>
    internal bool ArgumentsIsolated;

    /// <summary>True if the object must not return to its pool.</summary>
    internal bool Unpooled;

    /// <summary>True when the answer completes a <see cref="Task"/> instead of an awaited <see cref="ValueTask"/>.</summary>
    internal bool AnswersTask;

    /// <summary>True if the caller's span is in <see cref="Trace"/>, and ends when the caller takes the answer.</summary>
    internal bool HasSpan;

    /// <summary>The exception of the callee or of the runtime, or null.</summary>
    internal Exception? Error;

    /// <summary>The number of uses of the pooled object; its low 16 bits are the token of the value task.</summary>
    internal int Version;

    /// <summary>The ticket that the call can be claimed with, or <see cref="Claimed"/>.</summary>
    private long _ticket = Unregistered;

    /// <summary>
    /// Why another party than the holder has ended the call. Not in <see cref="Error"/>, because the holder may write that at any time. See
    /// <see cref="Abandon"/>.
    /// </summary>
    private Exception? _abandonment;
    private RemoteId _source;
    private Action<object?>? _continuation;
    private object? _continuationState;
    private object? _continuationContext;

    /// <summary>The grain that is called.</summary>
    internal GrainId TargetId => Reference is { } reference ? reference.GrainId : RemoteTarget;

    /// <summary>The grain or client that calls; default when unknown.</summary>
    internal GrainId SourceId => Caller is { } caller ? caller.HostId : RemoteSource;

    /// <summary>For calls from the wire: whether the request names its caller.</summary>
    internal bool HasRemoteSource => !_source.IsDefault;

    /// <summary>
    /// For calls from the wire: the caller. Calls of this process have it in <see cref="Caller"/>. It is rarely needed, so the call keeps
    /// only the bytes, and the id is created here.
    /// </summary>
    internal GrainId RemoteSource => _source.IsDefault ? default : Runtime!.FindId(_source.Hash, _source.Type, _source.Key);

    internal bool IsOneWay => (Flags & InvokeMethodOptions.OneWay) != 0;

    /// <summary>Name and id of the method, one object per method.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public abstract CallMethod Method { get; }

    /// <summary>Runs the method on its target. True if it has ended synchronously: then <see cref="Error"/> or the result is set.</summary>
    internal abstract bool Start();

    /// <summary>Takes the result of a method that ended asynchronously.</summary>
    internal abstract void TakeResult();

    /// <summary>The result as filters see it.</summary>
    internal abstract object? BoxedResult { get; set; }

    /// <summary>Set in <see cref="CallMethod.Options"/> by generated code when the method's return value is [Immutable].</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public const InvokeMethodOptions ImmutableResult = (InvokeMethodOptions)0x100;

    /// <summary>Set in <see cref="CallMethod.Options"/> by generated code when the method takes a cancellation token.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public const InvokeMethodOptions Cancellable = (InvokeMethodOptions)0x200;

    /// <summary>Set in <see cref="CallMethod.Options"/> by generated code when the requests of the method filter their own calls.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public const InvokeMethodOptions FiltersItself = (InvokeMethodOptions)0x400;

    /// <summary>Not null if the call is <see cref="Cancellable"/>. Generated.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public virtual CallCancellation? Cancellation => null;

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

    /// <summary>
    /// Whether another call of this method has the same arguments for certain, so that they need not be encoded again. Generated where no
    /// argument can be changed. False does not say that they differ.
    /// </summary>
    /// <param name="other">A call.</param>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public virtual bool HasArgumentsOf(Call other) => false;

    /// <summary>Reads the arguments. Generated; empty without arguments.</summary>
    /// <param name="reader">Where from; ends with the arguments.</param>
    public virtual void ReadArguments(ref WireReader reader)
    {
    }

    /// <summary>Identifies this use of the call for its claim; it is also the id of the call on the wire.</summary>
    internal long Ticket => Volatile.Read(ref _ticket);

    internal bool IsClaimed => Volatile.Read(ref _ticket) == Claimed;

    /// <summary>The exception that the caller gets instead of a result, or null. Read by the caller after the call was published.</summary>
    internal Exception? Outcome => Unpooled ? _abandonment ?? Error : Error;

    /// <summary>The registry gives the call a slot.</summary>
    internal void Register(long ticket)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(ticket > Unregistered && _ticket == Unregistered);
        Volatile.Write(ref _ticket, ticket);
    }

    /// <summary>For calls from the wire: keeps the id of the caller.</summary>
    internal void SetRemoteSource(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key) => _source.Set(hash, type, key);

    /// <summary>The registry was closed while it gave the call a slot.</summary>
    internal void Unregister() => Volatile.Write(ref _ticket, Unregistered);

    /// <summary>
    /// True for exactly one party, which then completes the use of this call that has <paramref name="ticket"/>. Removes the call from the
    /// registry. False also for the ticket of a call that is claimed: who has read it has come too late.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryClaim(long ticket)
    {
        if (Interlocked.CompareExchange(ref _ticket, Claimed, ticket) != ticket || ticket == Claimed)
            return false;
        if (ticket != Unregistered)
            Runtime!.Registry.Remove(ticket);
        return true;
    }

    /// <summary>
    /// As <see cref="TryClaim(long)"/>, for the holder of the object: while it holds the object, no other use of it begins.
    /// </summary>
    internal bool TryClaim()
    {
        var ticket = Ticket;
        if (ticket != Unregistered)
            return TryClaim(ticket);
        Volatile.Write(ref _ticket, Claimed);
        return true;
    }

    /// <summary>Passes the completed call to its caller. The call must not be touched afterwards.</summary>
    internal void Publish()
    {
        if (Invariant.AreChecked)
            Invariant.Holds(_ticket == Claimed && _abandonment is null);
        switch (Origin)
        {
            case CallOrigin.Remote:
                Runtime!.SendReply(this);
                return;
            case CallOrigin.Nobody:
                if (Error is not null && Callee is null)
                    Runtime!.Lost(this);
                Recycle();
                return;
        }

        if ((Flags & Cancellable) != 0)
            Cancellation!.EndWatch();
        if (AnswersTask)
            Deliver(Caller);
        else if (Interlocked.CompareExchange(ref _continuation, Completed, null) is not null)
            Deliver(_continuationContext);
    }

    /// <summary>
    /// Completes a call that its holder may continue to use, as after a timeout. Like <see cref="Publish"/>, but does not put the object
    /// itself into a second mailbox. Requires the claim by <see cref="TryClaim(long)"/>.
    /// </summary>
    internal void Abandon(Exception error)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(_ticket == Claimed && _abandonment is null && Origin == CallOrigin.Local);
        _abandonment = error;
        Unpooled = true;
        if ((Flags & Cancellable) != 0)
            Cancellation!.EndWatch();
        if (AnswersTask)
            DeliverAbandoned(Caller);
        else if (Interlocked.CompareExchange(ref _continuation, Completed, null) is not null)
            DeliverAbandoned(_continuationContext);
    }

    /// <inheritdoc/>
    void IThreadPoolWorkItem.Execute() => ResumeOutside();

    internal override void Run(CallHost host) => ResumeCaller();

    /// <summary>Runs the continuation of the caller: on a turn of the caller, or on an application thread.</summary>
    internal void ResumeCaller()
    {
        if (AnswersTask)
        {
            CompleteTask();
            return;
        }

        var continuation = _continuation!;
        if (Invariant.AreChecked)
            Invariant.Holds(_ticket == Claimed && !ReferenceEquals(continuation, Completed));
        var state = _continuationState;
        continuation(state);
    }

    /// <summary>
    /// As <see cref="ResumeCaller"/>, for a caller that is no grain: on this thread of the thread pool, or where the caller wants to go on.
    /// </summary>
    internal void ResumeOutside()
    {
        if (AnswersTask || _continuationContext is not { } context)
            ResumeCaller();
        else
            new CallerResumption(this, Runtime!).PassTo(context);
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

    /// <summary>Throws if the value task belongs to an earlier use of the object.</summary>
    internal void CheckToken(short token)
    {
        if ((short)Version != token)
            throw new InvalidOperationException("The value task of a grain call was awaited twice or after its result was taken.");
    }

    /// <summary>
    /// Prepares the object for its next use; called by <see cref="Recycle"/>. False if it must not return to its pool.
    /// </summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected bool ResetForReuse()
    {
        if (Unpooled)
            return false;
        if (Invariant.AreChecked)
            Invariant.Holds(_abandonment is null);
        Runtime = null;
        Reference = null;
        Caller = null;
        Callee = null;
        Context = null;
        Trace = null;
        Remote = null;
        Via = null;
        CalledThrough = null;
        // Otherwise a later call from a client without an id would name this caller.
        _source.Clear();
        Error = null;
        Deadline = 0;
        Began = 0;
        Flags = InvokeMethodOptions.None;
        Origin = CallOrigin.Local;
        Step = CallStep.Request;
        Forwards = 0;
        PlacedHere = false;
        ArgumentsIsolated = false;
        AnswersTask = false;
        HasSpan = false;
        _continuation = null;
        _continuationState = null;
        _continuationContext = null;
        Version++;
        Volatile.Write(ref _ticket, Unregistered);
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
            default:
                // Also if the caller has a context: it is code of the application, and must not run on the thread that brings the answer.
                Runtime!.Resume(this);
                break;
        }
    }
}

/// <summary>Resumes one caller in its own context: once, even if the context runs it twice, or throws after it has taken it.</summary>
/// <remarks>Created and passed on by a thread of the thread pool; a context runs it on any thread.</remarks>
internal sealed class CallerResumption(Call call, CallRuntime runtime)
{
    private Call? _call = call;

    /// <summary>If the context refuses it, the caller goes on on this thread: an answer that has come must not be lost.</summary>
    internal void PassTo(object context)
    {
        try
        {
            if (context is SynchronizationContext synchronization)
            {
                synchronization.Post(static state => ((CallerResumption)state!).Run(), this);
                return;
            }

            Task.Factory.StartNew(static state => ((CallerResumption)state!).Run(), this, CancellationToken.None,
                TaskCreationOptions.DenyChildAttach, (TaskScheduler)context);
        }
        catch (Exception exception)
        {
            runtime.ContextFailed(exception);
            Run();
        }
    }

    private void Run() => Interlocked.Exchange(ref _call, null)?.ResumeCaller();
}

/// <summary>The interface through which a grain is called.</summary>
/// <param name="Name">Its name in the type manifest; null if it is not known.</param>
/// <param name="Version">Its version at the caller; 0 if it has none.</param>
internal sealed record CalledInterface(string? Name, ushort Version);

/// <summary>Where the answer of a call goes to.</summary>
internal enum CallOrigin : byte
{
    /// <summary>A caller in this process waits for it.</summary>
    Local,

    /// <summary>A caller in another process waits for it: the answer goes over the wire.</summary>
    Remote,

    /// <summary>No caller waits: one-way.</summary>
    Nobody,
}

/// <summary>What a host does with a call that it takes from its mailbox.</summary>
internal enum CallStep : byte
{
    /// <summary>A request: admit it and run the method.</summary>
    Request,

    /// <summary>The method has ended outside of a turn of the callee: finish the request.</summary>
    Finish,

    /// <summary>An answer: resume the caller.</summary>
    Resume,
}

/// <summary>
/// The bytes of a grain id from the wire. A field of a pooled call, which keeps the array for later uses unless it is long.
/// </summary>
internal struct RemoteId
{
    private const int KeptBytes = 128;

    private byte[]? _bytes;
    private int _typeLength;
    private int _length;

    /// <summary>The hash that the sender has computed.</summary>
    internal uint Hash { get; private set; }

    internal readonly bool IsDefault => _length == 0;

    internal readonly ReadOnlySpan<byte> Type => _bytes.AsSpan(0, _typeLength);

    internal readonly ReadOnlySpan<byte> Key => _bytes.AsSpan(_typeLength, _length - _typeLength);

    internal void Set(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key)
    {
        var length = type.Length + key.Length;
        if (_bytes is null || _bytes.Length < length)
            _bytes = new byte[Math.Max(length, 32)];
        type.CopyTo(_bytes);
        key.CopyTo(_bytes.AsSpan(type.Length));
        Hash = hash;
        _typeLength = type.Length;
        _length = length;
    }

    internal void Clear()
    {
        if (_length > KeptBytes)
            _bytes = null;
        _length = _typeLength = 0;
    }
}
