using ActOp.Calls;
using ActOp.Runtime.Calls;
using ActOp.Wire;
using Orleans.CodeGeneration;

namespace ActOp.Models;

/// <summary>A call with a number as its result, and the callers' half of its way.</summary>
internal class ModelCall(CallPool pool) : RequestBase, IBuffered
{
    private CallCancellation? _cancellation;

    internal int Result { get; set; }

    /// <summary>What the method does.</summary>
    internal MethodKind Kind { get; set; }

    public override CallMethod Method { get; } = new();

    public override CallCancellation Cancellation => _cancellation ??= new CallCancellation(this);

    internal override object? BoxedResult { get; set; }

    public override void Recycle()
    {
        if (!ResetForReuse())
            return;
        Result = 0;
        Token = default;
        Kind = default;
        _cancellation?.Reset();
        pool.Return(this);
    }

    public virtual object Pend(PendingStore store) => new PendingCall(store);

    /// <summary>The caller has passed a token.</summary>
    internal void Pass(CancellationToken token)
    {
        Token = token;
        Flags |= (InvokeMethodOptions)Cancellable;
    }

    internal override bool Start() => throw new NotSupportedException(nameof(Start));

    internal override void TakeResult() => throw new NotSupportedException(nameof(TakeResult));

    internal override void CopyResult(CopyContext context) => throw new NotSupportedException(nameof(CopyResult));

    internal override void WriteResult(ref WireWriter writer) => throw new NotSupportedException(nameof(WriteResult));

    internal override void ReadResult(ref WireReader reader) => throw new NotSupportedException(nameof(ReadResult));

    internal override void CompleteTask() => throw new NotSupportedException(nameof(CompleteTask));

    internal override ValueTask<object?> RouteBoxed(Action<Call, object> route, object state) =>
        throw new NotSupportedException(nameof(RouteBoxed));

    /// <summary>Stands in a slot while the store of the call waits.</summary>
    private sealed class PendingCall(PendingStore store) : ModelCall(new CallPool()), IPending
    {
        public object? Seen => store.Seen;

        public override object Pend(PendingStore store) => throw new NotSupportedException(nameof(Pend));
    }
}

/// <summary>What a method does in a model.</summary>
internal enum MethodKind
{
    /// <summary>Ends in its second turn.</summary>
    TwoTurns,

    /// <summary>Ends when its token is cancelled.</summary>
    UntilCancelled,
}

/// <summary>Calls that are in no use: the last one returned is used first.</summary>
internal sealed class CallPool
{
    private readonly Stack<ModelCall> _calls = new();

    internal ModelCall Rent() => _calls.TryPop(out var call) ? call : new ModelCall(this);

    internal void Return(ModelCall call)
    {
        if (_calls.Contains(call))
            throw new InvalidOperationException("A call returns to its pool twice.");
        _calls.Push(call);
    }
}

/// <summary>The caller of a call: waits for its answer on a thread that is no grain's.</summary>
internal sealed class Caller(NodeModel model, CallSender calls)
{
    private int _waiting;
    private int _resumed;

    /// <summary>Whether the last call was given a slot.</summary>
    internal bool WasAccepted { get; private set; }

    /// <summary>Whether the caller has no answer.</summary>
    internal bool IsWaiting => _waiting > 0;

    /// <summary>Makes a call and waits: the answer, or the name of the exception's type. The call is in no use afterwards.</summary>
    internal string Ask(ModelCall call, long deadline, Action<long> send)
    {
        call.Runtime = calls;
        call.Deadline = deadline;
        WasAccepted = calls.Registry.TryAdd(call);
        if (!WasAccepted)
            return "refused";
        _waiting++;
        send(call.Ticket);
        return Await(call);
    }

    private string Await(ModelCall call)
    {
        string? outcome = null;
        var use = _resumed;
        void Resume()
        {
            if (outcome is not null || use != _resumed++)
                model.Find("a caller was resumed twice");
            outcome = call.Outcome?.GetType().Name ?? call.Result.ToString();
            _waiting--;
            call.Recycle();
        }

        var token = (short)call.Version;
        if (call.HasCompleted(token))
            Resume();
        else
            call.Await(_ => Resume(), null, token, onContext: false);
        NodeModel.WaitFor(() => outcome is not null);
        return outcome!;
    }
}
