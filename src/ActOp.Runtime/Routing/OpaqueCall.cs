using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>
/// A request whose method this process does not know: the interface is not here, or another build of it. A silo passes it on to a silo that
/// hosts the grain, without reading it.
/// </summary>
/// <remarks>
/// Holds a copy of the rest of its frame, from the request context to the arguments, until it is sent or refused. It never runs: a router
/// that finds its grain here refuses it. Not pooled.
/// </remarks>
internal sealed class OpaqueCall : Call
{
    private readonly CallMethod _method;
    private byte[] _rest = [];

    private readonly Action _refused;
    private readonly CallCancellation _cancellation;

    /// <param name="methodId">The method.</param>
    /// <param name="typeArguments">Its type arguments, or null.</param>
    /// <param name="reason">Why the request cannot run here.</param>
    /// <param name="refused">Reports that no silo can run it.</param>
    internal OpaqueCall(ulong methodId, string? typeArguments, Exception reason, Action refused)
    {
        Reason = reason;
        _refused = refused;
        _cancellation = new CallCancellation(this);
        // It may have a token among its arguments.
        _method = new CallMethod(typeof(IAddressable), "unknown interface", methodId.ToString("x16"), methodId, Cancellable, null,
            static () => throw new InvalidOperationException("The method is not known here."))
        { TypeArguments = typeArguments };
    }

    /// <summary>Why the request cannot run here.</summary>
    internal Exception Reason { get; }

    /// <summary>The grain is here, and so the request runs nowhere.</summary>
    internal void Refuse()
    {
        _refused();
        Activation.Fail(this, Reason);
    }

    /// <summary>The flags that say what the rest begins with.</summary>
    internal FrameFlags RestFlags { get; private set; }

    public override CallMethod Method => _method;

    public override CallCancellation Cancellation => _cancellation;

    internal override object? BoxedResult { get; set; }

    /// <summary>Takes what is left of the frame.</summary>
    internal void ReadRest(FrameFlags flags, ref WireReader reader)
    {
        RestFlags = flags & (FrameFlags.HasContext | FrameFlags.HasTrace);
        _rest = reader.ReadRaw(reader.Remaining).ToArray();
    }

    public override void WriteArguments(ref WireWriter writer) => writer.WriteRaw(_rest);

    public override void Recycle()
    {
        _rest = [];
        _cancellation.Reset();
    }

    internal override bool Start()
    {
        Error = Reason;
        return true;
    }

    internal override void TakeResult()
    {
    }

    internal override void CopyResult(CopyContext context)
    {
    }

    internal override void WriteResult(ref WireWriter writer) => throw Reason;

    internal override void ReadResult(ref WireReader reader) => throw Reason;

    internal override void CompleteTask()
    {
    }

    internal override ValueTask<object?> RouteBoxed(Action<Call, object> route, object state) => throw Reason;
}
