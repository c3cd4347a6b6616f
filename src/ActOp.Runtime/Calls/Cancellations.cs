using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Directory;
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
/// <param name="locations">Where grains are, as far as it is known.</param>
/// <param name="directory">Where grains are.</param>
/// <param name="lookups">Supervises the lookups.</param>
/// <param name="waitsForCallee">A cancelled call goes on until the callee answers.</param>
internal sealed class Cancellations(
    LocalNode local, FrameWriter writer, LocationCache locations, DirectoryClient directory, BackgroundPart lookups, bool waitsForCallee)
{
    /// <summary>A cancellation follows its request over so many silos.</summary>
    private const int MaxHops = 3;

    /// <summary>Cancellations that wait for the directory; further ones are dropped.</summary>
    private const int MaxLookups = 1_000;

    /// <summary>The grain may be starting elsewhere: it registers before its requests run.</summary>
    private const int Attempts = 5;

    private static readonly TimeSpan BetweenAttempts = TimeSpan.FromMilliseconds(100);

    private int _lookups;

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

    /// <summary>Follows a request that is not here: to the silo that has the grain. Observers and system targets are where their id says.</summary>
    internal void Follow(SiloAddress origin, ulong ticket, GrainId target, byte hop)
    {
        if (!local.IsSilo || hop >= MaxHops)
            return;
        if (SystemGrainIds.TryGetAddress(target, out var place) || (place = locations.Find(target)?.Silo.Address) is not null)
            PassOn(place, origin, ticket, target, hop);
        else if (Interlocked.Increment(ref _lookups) <= MaxLookups)
            lookups.Follow(LookUpAsync(origin, ticket, target, hop));
        else
            Interlocked.Decrement(ref _lookups);
    }

    private async Task LookUpAsync(SiloAddress origin, ulong ticket, GrainId target, byte hop)
    {
        try
        {
            for (var attempt = 0; attempt < Attempts; attempt++)
            {
                var location = await directory.LookupAsync(target).ConfigureAwait(false);
                if (!location.IsNone)
                {
                    PassOn(location.Silo, origin, ticket, target, hop);
                    return;
                }

                await Task.Delay(BetweenAttempts, local.TaskTime, lookups.Stopping).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException) when (lookups.Stopping.IsCancellationRequested)
        {
            // The node stops, and with it the request, if it is here.
        }
        finally
        {
            Interlocked.Decrement(ref _lookups);
        }
    }

    private void PassOn(SiloAddress silo, SiloAddress origin, ulong ticket, GrainId target, byte hop)
    {
        if (!silo.Equals(local.Address))
            writer.SendCancel(silo, target, origin, ticket, (byte)(hop + 1));
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
