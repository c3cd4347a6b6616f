using System.Runtime.CompilerServices;
using ActOp.Calls;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Hosting;

namespace ActOp.Runtime.Routing;

/// <summary>Requests whose caller waits no more: they are dropped and counted instead of run or sent.</summary>
/// <remarks>Any thread that holds the request.</remarks>
internal sealed class AbandonedRequests(Clock clock, RuntimeMetrics metrics)
{
    /// <summary>True when nobody waits for the answer of a request: then it was recycled, and the holder must not touch it again.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool Drops(Call call)
    {
        if (!IsAbandoned(call))
            return false;
        Drop(call);
        return true;
    }

    /// <summary>The caller's own silo ends its call in time; of a call from the wire only the deadline is known.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool IsAbandoned(Call call) => call.IsClaimed || (call.Origin == CallOrigin.Remote && call.Deadline <= clock.Now);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Drop(Call call)
    {
        metrics.RequestDropped();
        if (call.TryClaim())
            call.Recycle();
    }
}
