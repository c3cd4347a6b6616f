using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Hosting;
using ActOp.Runtime.Routing;
using Microsoft.Extensions.Logging;
using Orleans.Runtime;

namespace ActOp.Runtime.Calls;

/// <summary>
/// Cancels calls of this process: ends the wait of the caller, unless callers wait for the callee, and tells the callee, here or on another
/// node.
/// </summary>
/// <remarks>
/// Any thread: that of the application that cancels a token, or the sweep of expired calls. Holds nothing. See
/// <see cref="CallCancellation"/> for what belongs to a call.
/// </remarks>
/// <param name="local">This node.</param>
/// <param name="writer">Tells other nodes.</param>
/// <param name="waitsForCallee">A cancelled call goes on until the callee answers.</param>
internal sealed class Cancellations(LocalNode local, FrameWriter writer, bool waitsForCallee)
{
    /// <summary>The answer to a request that was cancelled before it ran.</summary>
    internal static Exception NeverRan(Call call) =>
        new OperationCanceledException("The call " + call.Method.ActivityName + " to " + call.TargetId + " was cancelled before it ran.");

    /// <summary>
    /// Watches the token of a registered call. False if it is cancelled already: then the call has ended, and nothing was sent.
    /// </summary>
    internal static bool TryWatch(Call call)
    {
        var token = ((RequestBase)call).GetCancellationToken();
        if (!token.CanBeCanceled)
            return true;
        if (token.IsCancellationRequested)
        {
            Activation.Fail(call, Cancelled(call, token));
            return false;
        }

        if (call.Origin == CallOrigin.Local)
            call.Cancellation!.Watch(token);
        return true;
    }

    /// <summary>The caller has cancelled its token. The call object is in no other use until this returns, and in none after it.</summary>
    internal void OfCaller(CallCancellation cancellation, CancellationToken token)
    {
        var call = cancellation.Call;
        var ticket = cancellation.Ticket;
        cancellation.Mark();
        var remote = Volatile.Read(ref call.Remote);
        if (!waitsForCallee && call.TryClaim(ticket))
            call.Abandon(Cancelled(call, token));
        TellCallee(cancellation, ticket, remote);
    }

    /// <summary>A call took too long, and its caller has the exception.</summary>
    internal void OfExpired(Call call, long ticket, object? remote)
    {
        var cancellation = call.Cancellation!;
        if (cancellation.Mark())
            TellCallee(cancellation, ticket, remote);
    }

    private static OperationCanceledException Cancelled(Call call, CancellationToken token) =>
        new("The call " + call.Method.ActivityName + " to " + call.TargetId + " was cancelled.", token);

    private void TellCallee(CallCancellation cancellation, long ticket, object? remote)
    {
        // A call that no activation and no other node has is on its way: whoever has it sees the mark.
        if (cancellation.TellHost() || cancellation.IsLeftToSender(ticket) || remote is null)
            return;
        var note = ForwardedTo.Note(ref remote, ticket);
        if ((note?.Silo ?? remote as SiloAddress) is not { } silo)
            return;
        // Clients have no links to each other.
        if (note is not null && !local.IsSilo && silo.IsClient)
            silo = note.By;
        writer.SendCancel(silo, cancellation.Call.TargetId, ticket);
    }
}

/// <summary>What the log says about cancelled calls.</summary>
internal static partial class CancellationLog
{
    [LoggerMessage(1180, LogLevel.Information, "{Calls} running or waiting calls of {Caller}, which is gone, were cancelled.")]
    internal static partial void CallerGone(ILogger logger, int calls, SiloAddress caller);
}
