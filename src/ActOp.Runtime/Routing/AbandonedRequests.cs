using System.Runtime.CompilerServices;
using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Groups;

namespace ActOp.Runtime.Routing;

/// <summary>Requests whose caller no longer waits: they are dropped and counted instead of run or sent.</summary>
/// <remarks>Any thread that holds the request.</remarks>
/// <param name="clock">Tells whether a deadline has passed.</param>
/// <param name="metrics">Counts what is dropped.</param>
/// <param name="runsExpired">Whether a request runs although nobody waits for its answer any more.</param>
internal sealed class AbandonedRequests(Clock clock, RuntimeMetrics metrics, bool runsExpired)
{
    /// <summary>True if no caller waits for the reply of a request. Then it was recycled, and the holder must not use it again.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool Drops(Call call) => IsAbandoned(call) && DropNow(call);

    /// <summary>
    /// As <see cref="Drops"/>, before a request is sent: one that has ended here is dropped always, because its reply would find no call.
    /// </summary>
    internal bool DropsUnsent(Call call) => (call.IsClaimed || IsAbandoned(call)) && DropNow(call);

    /// <summary>The caller's own silo ends its call in time; of a call from the wire only the deadline is known.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool IsAbandoned(Call call) =>
        (call.IsClaimed || (call.Origin == CallOrigin.Remote && call.Deadline <= clock.Now)) && !runsExpired;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool DropNow(Call call)
    {
        GrainGroup.Release(call);
        metrics.RequestDropped();
        if (call.TryClaim())
            call.Recycle();
        return true;
    }
}
