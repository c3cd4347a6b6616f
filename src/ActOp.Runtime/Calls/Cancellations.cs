using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Routing;
using ActOp.Wire;
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
/// <param name="calls">Has the requests of other nodes.</param>
/// <param name="routes">Where requests may be.</param>
/// <param name="waitsForCallee">A cancelled call goes on until the callee answers.</param>
internal sealed class Cancellations(CallSender calls, CancelRoutes routes, bool waitsForCallee)
{
    /// <summary>
    /// For how long notes about a request are kept, beside those of <see cref="ArrivalMs"/>, if its deadline is later or never.
    /// </summary>
    internal const long LongestMs = 300_000;

    /// <summary>Deadlines travel as the time that is left, and requests that are on their way longer than expected may be run.</summary>
    internal const long ArrivalMs = 5_000;

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

    /// <summary>
    /// A call whose token is cancelled already throws where it is made, as in Orleans. Its object does not return to the pool. Where
    /// filters see the call first, it ends in its task.
    /// </summary>
    /// <exception cref="OperationCanceledException">The token is cancelled.</exception>
    internal static void ThrowIfCancelled(Call call)
    {
        var token = ((RequestBase)call).GetCancellationToken();
        if (token.IsCancellationRequested)
            throw Cancelled(call, token);
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

    /// <summary>
    /// Another node has cancelled a request. It is told here, or the frame goes where the request went. If nothing is known of it, the
    /// cancellation waits for it, and is also sent to the silo that has the grain: a note about where the request went may be forgotten.
    /// </summary>
    internal void OfOther(in CancelFrame frame)
    {
        var step = calls.Cancellables.Cancel(frame.Origin, frame.Ticket, frame.Until, out var next);
        if (step == CancelStep.Follows)
            routes.Follow(next!, frame);
        else if (step == CancelStep.Waits)
            routes.Guess(frame);
    }

    /// <summary>When a note about the request is of no use any more: no caller waits, and the request will not arrive.</summary>
    internal static long NoteEnd(Call call, long now) => Math.Clamp(call.Deadline, now, now + LongestMs) + ArrivalMs;

    private static OperationCanceledException Cancelled(Call call, CancellationToken token) =>
        new("The call " + call.Method.ActivityName + " to " + call.TargetId + " was cancelled.", token);

    private void TellCallee(CallCancellation cancellation, long ticket, object? remote)
    {
        // A call that no activation and no other node has is on its way: whoever has it sees the mark.
        if (cancellation.TellHost() || cancellation.IsLeftToSender(ticket) || remote is null)
            return;
        var note = ForwardedTo.Note(ref remote, ticket);
        if ((note?.Silo ?? remote as SiloAddress) is { } silo)
            routes.ToCallee(cancellation.Call, silo, note, ticket);
    }
}

/// <summary>Where requests may be: sends cancellations after them.</summary>
/// <remarks>Any thread. Owns nothing but the number of lookups.</remarks>
/// <param name="local">This node.</param>
/// <param name="activations">The grains of this node.</param>
/// <param name="peers">Which nodes this one is connected to.</param>
/// <param name="writer">Tells other nodes.</param>
/// <param name="locations">Where grains are, as far as it is known.</param>
/// <param name="directory">Where grains are.</param>
/// <param name="lookups">Supervises the lookups.</param>
internal sealed class CancelRoutes(
    LocalNode local, ActivationTable activations, PeerTable peers, FrameWriter writer, LocationCache locations, DirectoryClient directory,
    BackgroundPart lookups)
{
    /// <summary>A cancellation follows its request over so many silos: more than a request is forwarded.</summary>
    private const int MaxHops = 100;

    /// <summary>Over so many silos it may go to where the grain is said to be.</summary>
    private const int MaxGuesses = 3;

    /// <summary>Cancellations that wait for the directory; further ones are dropped.</summary>
    private const int MaxLookups = 1_000;

    private int _lookups;

    /// <summary>
    /// To the node that has a call of this process. Clients have no links to each other, and may have none to a silo. The one that has
    /// forwarded the request knows where it is.
    /// </summary>
    internal void ToCallee(Call call, SiloAddress silo, ForwardedTo? note, long ticket) =>
        writer.SendCancel(call, note is not null && !local.IsSilo && !peers.IsConnected(silo) ? note.By : silo, ticket);

    /// <summary>To the silo to which this one has forwarded the request.</summary>
    internal void Follow(SiloAddress next, in CancelFrame frame)
    {
        if (frame.Hop < MaxHops)
            PassOn(next, frame);
    }

    /// <summary>
    /// A request of which nothing is known is looked for where its grain is said to be. Observers and system targets are where their id
    /// says.
    /// </summary>
    internal void Guess(in CancelFrame frame)
    {
        var target = frame.Target;
        if (frame.Hop >= MaxGuesses || !local.IsSilo || activations.TryGet(target, out _))
            return;
        if (SystemGrainIds.TryGetAddress(target, out var named))
            PassOnIfKnown(named, frame);
        else if (locations.FindLocation(target)?.Silo.Address is { } silo)
            PassOn(silo, frame);
        else if (Interlocked.Increment(ref _lookups) <= MaxLookups)
            lookups.Follow(LookUpAsync(frame));
        else
            Interlocked.Decrement(ref _lookups);
    }

    private async Task LookUpAsync(CancelFrame frame)
    {
        try
        {
            var location = await directory.LookupAsync(frame.Target).ConfigureAwait(false);
            if (!location.IsNone)
                PassOn(location.Silo, frame);
        }
        catch (SiloUnavailableException)
        {
            // A slot without an owner: it was a guess, and the cancellation waits here.
        }
        finally
        {
            Interlocked.Decrement(ref _lookups);
            Invariant.Holds(_lookups >= 0);
        }
    }

    /// <summary>An id that a peer has sent may name any address, and nothing is kept for one because it does.</summary>
    private void PassOnIfKnown(SiloAddress silo, in CancelFrame frame)
    {
        if (peers.IsKnown(silo))
            PassOn(silo, frame);
    }

    private void PassOn(SiloAddress silo, in CancelFrame frame)
    {
        if (!silo.Equals(local.Address))
            writer.SendCancel(silo, frame with { Hop = (byte)(frame.Hop + 1) });
    }
}

/// <summary>The frame of a cancelled request.</summary>
/// <param name="Origin">The node that waits for the answer.</param>
/// <param name="Ticket">The ticket of the request there.</param>
/// <param name="Target">The grain.</param>
/// <param name="Hop">How often the frame was passed on.</param>
/// <param name="Until">When a note about the request is of no use any more, as the clock of this node says.</param>
internal readonly record struct CancelFrame(SiloAddress Origin, ulong Ticket, GrainId Target, byte Hop, long Until)
{
    internal void Write(ref WireWriter writer, long now)
    {
        writer.WriteByte((byte)FrameKind.Cancel);
        writer.WriteByte(Hop);
        writer.WriteFixed64(Ticket);
        Addresses.Write(ref writer, Origin);
        GrainIdBytes.Write(ref writer, Target);
        writer.WriteVarUInt32((uint)Math.Clamp(Until - now, 0, uint.MaxValue));
    }

    /// <summary>Reads what follows the kind of the frame.</summary>
    internal static CancelFrame Read(ref WireReader reader, long now)
    {
        var hop = reader.ReadByte();
        var ticket = reader.ReadFixed64();
        var origin = Addresses.Read(ref reader);
        var target = IdIntern.Current.Read(ref reader);
        // What a peer says does not make notes live longer than this node's own.
        var left = Math.Min(reader.ReadVarUInt32(), Cancellations.LongestMs + Cancellations.ArrivalMs);
        return new(origin, ticket, target, hop, now + left);
    }
}

/// <summary>What the log says about cancelled calls.</summary>
internal static partial class CancellationLog
{
    [LoggerMessage(1180, LogLevel.Information, "{Calls} running or waiting calls of {Caller}, which is gone, were cancelled.")]
    internal static partial void CallerGone(ILogger logger, int calls, SiloAddress caller);
}
