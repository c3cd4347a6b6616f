using ActOp.Calls;
using ActOp.Mesh;
using Microsoft.Extensions.Logging;
using Orleans.Runtime;

namespace ActOp.Runtime.Calls;

/// <summary>The runtime of a node. A caller goes on on the thread that brings its answer.</summary>
internal sealed class CallSender : CallRuntime
{
    /// <summary>Cancels the calls of this node.</summary>
    internal Cancellations? Cancellations { get; set; }

    /// <summary>Cancellations by callers of this node.</summary>
    internal int Cancelled { get; private set; }

    /// <summary>Gets the answers to requests of other nodes.</summary>
    internal Action<Call>? Replies { get; set; }

    internal override void CallerCancelled(CallCancellation cancellation, CancellationToken token)
    {
        Cancelled++;
        Cancellations!.OfCaller(cancellation, token);
    }

    internal override void SendReply(Call call) => Replies!(call);

    internal override void Resume(Call call) => call.ResumeCaller();
}

/// <summary>No thread of the pool reads answers here.</summary>
internal sealed class PoolBatch
{
    internal static PoolBatch? Current => null;

    internal SendResult? TryAppend(Link link, ReadOnlySpan<byte> frame) => link.TryAppendDeferred(frame);
}

/// <summary>What the generator of log methods makes.</summary>
internal static partial class CancellationLog
{
    internal static partial void CallerGone(ILogger logger, int calls, SiloAddress caller) =>
        throw new NotSupportedException(logger + ": " + calls + " calls of " + caller);
}
