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
/// the object to its pool). A call that somebody of this process waits for is in the <see cref="CallRegistry"/> from the
/// sending on, and several parties may race to end it: the callee, the reader of answers, the sweep of timeouts and dead
/// silos. The one that wins <see cref="TryClaim(long)"/>, which also takes the call out of the registry, writes the outcome
/// and publishes. A call that was ended by others than its holder (<see cref="Abandon"/>) is never pooled again: the holder
/// goes on using the object until it sees that it is claimed, and what it writes into it is nobody's.
/// </remarks>
public abstract class Call : MailboxItem, IThreadPoolWorkItem
{
    /// <summary>Written into <see cref="_continuation"/> when the call completes before anybody awaits it.</summary>
    private static readonly Action<object?> Completed = static _ => { };

    /// <summary>A claim's value once it is made.</summary>
    private const long Claimed = 0;

    /// <summary>The ticket of a call that is not in the registry: only its holder ends it.</summary>
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
    /// Coarse time in ms of the runtime's clock from which on nobody waits for the answer any more. Means nothing for one-way calls.
    /// </summary>
    internal long Deadline;

    /// <summary>For calls from the wire: the link peer that gets the answer. For calls to the wire: the silo that was asked.</summary>
    internal object? Remote;

    /// <summary>For calls from the wire that were sent on: the silo that sent them on, which can reach the caller. Else null.</summary>
    internal Orleans.Runtime.SiloAddress? Via;

    /// <summary>For calls from the wire: the caller's own id of the call, sent back with the answer.</summary>
    internal ulong ReplyTo;

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

    /// <summary>The ticket that the call can be claimed with, or <see cref="Claimed"/>.</summary>
    private long _ticket = Unregistered;

    /// <summary>
    /// Why the call was ended by others than its holder, who may write <see cref="Error"/> at any time; see <see cref="Abandon"/>.
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

    /// <summary>For calls from the wire: whether it says who called.</summary>
    internal bool HasRemoteSource => !_source.IsDefault;

    /// <summary>
    /// For calls from the wire: who called. Calls of this process take it from <see cref="Caller"/>. Few ask, so only the bytes are kept
    /// until somebody does.
    /// </summary>
    internal GrainId RemoteSource => _source.IsDefault ? default : Runtime!.FindId(_source.Hash, _source.Type, _source.Key);

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

    /// <summary>What this use of the call can be claimed with; it is also its id on the wire.</summary>
    internal long Ticket => Volatile.Read(ref _ticket);

    internal bool IsClaimed => Volatile.Read(ref _ticket) == Claimed;

    /// <summary>What the caller gets instead of a result, or null. Read by the caller after the call was published.</summary>
    internal Exception? Outcome => Unpooled ? _abandonment ?? Error : Error;

    /// <summary>The call is in the registry; called by the registry.</summary>
    internal void Register(long ticket) => Volatile.Write(ref _ticket, ticket);

    /// <summary>For calls from the wire: keeps the id of who called.</summary>
    internal void SetRemoteSource(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key) => _source.Set(hash, type, key);

    /// <summary>The registry has not taken the call after all.</summary>
    internal void Unregister() => Volatile.Write(ref _ticket, Unregistered);

    /// <summary>
    /// True for the one that may complete the use of this call that has <paramref name="ticket"/>; it is out of the registry then.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryClaim(long ticket)
    {
        if (Interlocked.CompareExchange(ref _ticket, Claimed, ticket) != ticket)
            return false;
        if (ticket != Unregistered)
            Runtime!.Registry.Remove(ticket);
        return true;
    }

    /// <summary>As <see cref="TryClaim(long)"/>, for the holder of the object: while he has it, no other use of it begins.</summary>
    internal bool TryClaim()
    {
        var ticket = Ticket;
        if (ticket != Unregistered)
            return ticket != Claimed && TryClaim(ticket);
        Volatile.Write(ref _ticket, Claimed);
        return true;
    }

    /// <summary>
    /// Hands the completed call to whoever waits. The caller of this must have won the claim, and may not touch the call afterwards.
    /// </summary>
    internal void Publish()
    {
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

        if (AnswersTask)
            Deliver(Caller);
        else if (Interlocked.CompareExchange(ref _continuation, Completed, null) is not null)
            Deliver(_continuationContext);
    }

    /// <summary>
    /// Completes a call that its holder may go on using (a timeout): like <see cref="Publish"/>, but the object itself goes
    /// into no second mailbox. The caller of this must have won <see cref="TryClaim(long)"/>.
    /// </summary>
    internal void Abandon(Exception error)
    {
        _abandonment = error;
        Unpooled = true;
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

    /// <summary>
    /// Prepares the object for its next use; called by <see cref="Recycle"/>. False when nobody but the collector may take it.
    /// </summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    protected bool ResetForReuse()
    {
        if (Unpooled)
            return false;
        Runtime = null;
        Reference = null;
        Caller = null;
        Callee = null;
        Context = null;
        Trace = null;
        Remote = null;
        Via = null;
        // Else the next caller without a grain would go by the name of this one.
        _source.Clear();
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

/// <summary>Where the answer of a call goes.</summary>
internal enum CallOrigin : byte
{
    /// <summary>A caller in this process waits for it.</summary>
    Local,

    /// <summary>A caller in another process waits for it: the answer goes over the wire.</summary>
    Remote,

    /// <summary>Nobody waits: one-way.</summary>
    Nobody,
}

/// <summary>What a mailbox has to do with a call that it takes out.</summary>
internal enum CallStep : byte
{
    /// <summary>It is a request: admit it, run the method.</summary>
    Request,

    /// <summary>The method that ran asynchronously has ended away from the turn: finish the request.</summary>
    Finish,

    /// <summary>It is an answer: go on with the caller.</summary>
    Resume,
}

/// <summary>
/// The bytes of a grain's id from the wire. Belongs to a pooled call, which keeps the array from use to use, unless it has grown long.
/// </summary>
internal struct RemoteId
{
    private const int KeptBytes = 128;

    private byte[]? _bytes;
    private int _typeLength;
    private int _length;

    /// <summary>The hash as it came.</summary>
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
