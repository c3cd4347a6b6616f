using System.Runtime.CompilerServices;
using ActOp.Calls;
using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using ActOp.Serialization;
using ActOp.Wire;
using Orleans.CodeGeneration;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>
/// Reads the kind of a frame and gives it to its reader, if the sender may send frames of the kind (<see cref="FrameRights"/>). Runs on the
/// receive stage, and on the control stage for frames that have waited (<see cref="HeldFrames"/>).
/// </summary>
/// <remarks>
/// Malformed frames throw a <see cref="Orleans.Serialization.SerializerException"/>, and the caller closes the link. Whatever else goes
/// wrong while a frame is delivered ends only its call.
/// </remarks>
internal sealed class FrameReader(
    LocalNode local, CallSender calls, SerializationLimitOptions decoding, FrameRights rights, RequestReader requests,
    ReplyReader replies, FanoutReader fanouts, Cancellations cancellations)
{
    /// <summary>What senders may say.</summary>
    internal FrameRights Rights => rights;

    /// <summary>Reads one frame.</summary>
    /// <param name="sender">Where the frame comes from.</param>
    /// <param name="role">What it may say; not <see cref="PeerRole.Newcomer"/> for frames that have waited.</param>
    /// <param name="frame">The frame.</param>
    internal void Read(Sender sender, PeerRole role, ReadOnlySpan<byte> frame)
    {
        using var scratch = Scratch.Rent(calls, frame.Length);
        scratch.Session.LimitDecoded(decoding.LimitOf(frame.Length));
        var reader = new WireReader(frame, scratch.Session);
        switch ((FrameKind)reader.ReadByte())
        {
            case FrameKind.Request:
                requests.Read(sender, role, ref reader, frame);
                break;
            case FrameKind.Reply:
                replies.Read(sender, role, null, ref reader, frame);
                break;
            case FrameKind.RelayedReply:
                if (role == PeerRole.Client)
                    replies.RelayOfClient(sender, ref reader, frame);
                else if (rights.IsMember(sender, role, frame, "a relayed reply"))
                    replies.RelayOfSilo(ref reader, frame);
                break;
            case FrameKind.ClientReply:
                if (rights.IsMember(sender, role, frame, "a reply of a client"))
                    replies.Read(sender, role, Addresses.Read(ref reader), ref reader, frame);
                break;
            case FrameKind.Forwarded:
                if (rights.IsMember(sender, role, frame, "a note about a forwarded call"))
                    replies.ReadForwarded(sender.Address, ref reader);
                break;
            case FrameKind.Fanout:
            case FrameKind.GrainFanout:
                fanouts.Read(sender, role, frame);
                break;
            case FrameKind.Cancel:
                ReadCancel(sender, role, ref reader, frame);
                break;
            default:
                rights.Refuse(sender, Refusal.Frame, "a frame of the unknown kind " + frame[0]);
                break;
        }
    }

    /// <summary>A frame that waited for a link was dropped.</summary>
    internal void Dropped(SiloAddress silo, ReadOnlySpan<byte> frame)
    {
        using var scratch = Scratch.Rent(calls, frame.Length);
        var reader = new WireReader(frame, scratch.Session);
        switch ((FrameKind)reader.ReadByte())
        {
            case FrameKind.Request:
                requests.Dropped(silo, ref reader);
                break;
            case FrameKind.Fanout:
                fanouts.Dropped(silo, ref reader);
                break;
            case FrameKind.GrainFanout:
                fanouts.DroppedOfGrains(silo, ref reader);
                break;
        }
    }

    /// <summary>
    /// A caller has cancelled a request, which is here, was here, or will come. A client may cancel its own requests only.
    /// </summary>
    private void ReadCancel(Sender sender, PeerRole role, ref WireReader reader, ReadOnlySpan<byte> frame)
    {
        var cancelled = CancelFrame.Read(ref reader, local.Clock.Now);
        if (role == PeerRole.Client ? !cancelled.Origin.Equals(sender.Address) : !rights.IsMember(sender, role, frame, "a cancellation"))
        {
            if (role == PeerRole.Client)
                rights.Refuse(sender, Refusal.Origin, "a cancellation of a call of another node");
            return;
        }

        cancellations.OfOther(cancelled);
    }
}

/// <summary>
/// Reads requests in four steps: parse the header, authorise the sender, make the call with its arguments, route it. A request that one of
/// the steps ends is answered, unless it is one-way.
/// </summary>
/// <remarks>Holds nothing. On the thread that reads the frame.</remarks>
internal sealed class RequestReader(
    LocalNode local, CallSender calls, ActivationTable activations, Router router, FrameRights rights, Refusals refusals)
{
    /// <summary>Reads what follows the kind of the frame.</summary>
    internal void Read(Sender sender, PeerRole role, ref WireReader reader, ReadOnlySpan<byte> frame)
    {
        var header = RequestHeader.Read(ref reader, out var target, out var source, out _);
        Read(sender, role, header, target, source, DeadlineOf(header), ref reader, frame);
    }

    /// <summary>
    /// The clocks of both nodes are coarse: a request that is dropped here must have expired at the caller. If no time is left, it has.
    /// </summary>
    internal long DeadlineOf(in RequestHeader header) => calls.DeadlineOf(!header.HasDeadline ? CallRegistry.NoDeadline
        : header.TimeLeft > 0 ? header.TimeLeft + (long)Clock.Period.TotalMilliseconds : 0);

    /// <summary>Reads what follows the header.</summary>
    /// <param name="sender">Where the frame comes from.</param>
    /// <param name="role">What it may say.</param>
    /// <param name="header">The header.</param>
    /// <param name="targetBytes">The called grain.</param>
    /// <param name="source">The calling grain; empty if none calls.</param>
    /// <param name="deadline">Of the call, by the clock of this node.</param>
    /// <param name="reader">Stands before the context, the trace and the arguments.</param>
    /// <param name="frame">The whole frame.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Read(
        Sender sender, PeerRole role, in RequestHeader header, scoped GrainIdBytes targetBytes, scoped GrainIdBytes source,
        long deadline, ref WireReader reader, ReadOnlySpan<byte> frame)
    {
        var activation = activations.FindRecent(targetBytes.Hash, targetBytes.Type, targetBytes.Key);
        var target = activation is null ? IdIntern.Current.Intern(targetBytes) : activation.GrainId;
        if (!rights.MayRequest(sender, role, header, target, source, frame))
            return;
        var caller = header.HasOrigin ? (header.Origin!, header.Mark) : (sender.Address, sender.Mark);
        if (Rent(sender, header, caller, target) is not { } call)
            return;
        if (!rights.MayCall(sender, role, header, caller, target, call.Method))
        {
            call.Recycle();
            return;
        }

        SetRouting(call, role, header, caller, target);
        if (sender.TenantCaller is { } client)
            client.SetAsSource(call);
        else
            call.SetRemoteSource(source.Hash, source.Type, source.Key);
        call.Deadline = deadline;
        ReadAndRoute(call, sender, header, activation, ref reader);
    }

    /// <summary>Reads what follows the header, and gives the call to the activation, or to the router if that is not known.</summary>
    internal void ReadAndRoute(Call call, Sender sender, in RequestHeader header, Activation? activation, ref WireReader reader)
    {
        if (!TryReadContent(call, sender, header.Flags, ref reader))
            return;
        if ((call.Flags & Call.Cancellable) != 0 && call.Origin == CallOrigin.Remote && (call.Cancellation!.IsLive || call is OpaqueCall))
            calls.Cancellables.Add(call.Cancellation);
        Route(call, activation);
    }

    /// <summary>
    /// A request that waited for a link was dropped. For a forwarded one, the caller's node is informed. Own calls are ended by the code
    /// that drops the frame, and one-way calls are counted.
    /// </summary>
    /// <param name="silo">The silo that it was for.</param>
    /// <param name="reader">Stands behind the kind of the frame.</param>
    internal void Dropped(SiloAddress silo, ref WireReader reader)
    {
        var header = RequestHeader.Read(ref reader, out var targetBytes, out _, out _);
        if (header is { HasOrigin: false, IsOneWay: false })
            return;
        var target = IdIntern.Current.Intern(targetBytes);
        if (header.IsOneWay)
        {
            calls.Lost(TypeManifest.FindMethod(header.MethodId)?.Name
                ?? "", target, new SiloUnavailableException("The silo " + silo + " is unreachable from " + local.Address + "."));
            return;
        }

        rights.Answer(header.Origin!, header.Mark, header.ReplyTo, target, new SiloUnavailableException("The silo " + silo
            + " is unreachable from " + local.Address + ", which was to forward a call to " + target + " to it."));
    }

    /// <summary>A call object of the method; null, and the request is answered, if this process does not know the method.</summary>
    private Call? Rent(Sender sender, in RequestHeader header, (SiloAddress Address, ulong Mark) caller, GrainId target)
    {
        try
        {
            return FrameWriter.CreateCall(header.MethodId, header.TypeArguments);
        }
        catch (Exception exception) when (local.IsSilo && !SystemGrainIds.IsControl(target))
        {
            // Another silo may host the grain; if none does, the reply says why.
            return NewOpaque(sender, header, target, exception);
        }
        catch (Exception exception)
        {
            // Replies with an error without the call class, so that the caller need not wait for its timeout.
            AddUnknown(sender, target, exception);
            if (!header.IsOneWay)
                rights.Answer(caller.Address, caller.Mark, header.ReplyTo, target, exception);
            return null;
        }
    }

    /// <summary>Apart from <see cref="Rent"/>, which would allocate the closure for each request.</summary>
    private OpaqueCall NewOpaque(Sender sender, in RequestHeader header, GrainId target, Exception reason) =>
        new(header.MethodId, header.TypeArguments, reason, () => AddUnknown(sender, target, reason));

    private void AddUnknown(Sender sender, GrainId target, Exception reason) =>
        refusals.Add(sender, Refusal.Unknown, "a call of " + target + " by an unknown method", reason);

    /// <summary>Sets what the header says, and what it may not say.</summary>
    internal void SetRouting(
        Call call, PeerRole role, in RequestHeader header, (SiloAddress Address, ulong Mark) caller, GrainId target)
    {
        call.Runtime = calls;
        call.Origin = header.IsOneWay ? CallOrigin.Nobody : CallOrigin.Remote;
        // Everything but one-way is a fact of the method, and never taken from the wire.
        call.Flags = call.Method.Options | (header.IsOneWay ? InvokeMethodOptions.OneWay : 0);
        call.Remote = caller.Address;
        call.OriginMark = caller.Mark;
        call.Via = header.Via;
        call.CalledThrough = header.NamesInterface ? new CalledInterface(header.Interface, header.Version)
            : call is OpaqueCall ? new CalledInterface(null, 0) : null;
        call.ReplyTo = header.ReplyTo;
        call.RemoteTarget = target;
        // The first hop of a client's request is the client's.
        call.Forwards = role == PeerRole.Client ? (byte)0 : header.Forwards;
        call.PlacedHere = header.PlacedHere;
    }

    /// <summary>Reads the context, the trace and the arguments. False, and the call has failed, if they cannot be read.</summary>
    private bool TryReadContent(Call call, Sender sender, FrameFlags flags, ref WireReader reader)
    {
        call.ArgumentsIsolated = true;
        try
        {
            if (call is OpaqueCall opaque)
            {
                opaque.ReadRest(flags, ref reader);
                return true;
            }

            if ((flags & FrameFlags.HasContext) != 0)
                call.Context = new RequestContextData { ReentrancyId = reader.ReadGuid(), Values = ContextCodec.Read(ref reader) };
            if ((flags & FrameFlags.HasTrace) != 0)
                call.Trace = CallTrace.Arrived(TraceHeader.Read(ref reader));
            call.ReadArguments(ref reader);
            return true;
        }
        catch (Exception exception)
        {
            refusals.Add(sender, Refusal.Data, "the arguments of " + call.Method.ActivityName + " for " + call.RemoteTarget, exception);
            Activation.Fail(call, exception);
            return false;
        }
    }

    private void Route(Call call, Activation? activation)
    {
        try
        {
            router.RouteArrived(call, activation);
        }
        catch (Exception exception)
        {
            // Such as a grain class that this silo lacks. The link, with the calls of all others, stays.
            Activation.Fail(call, exception);
        }
    }
}

/// <summary>Reads replies, passes on those for others, and notes who must reply to a forwarded request.</summary>
/// <remarks>Holds nothing. On the thread that reads the frame.</remarks>
internal sealed class ReplyReader(
    LocalNode local, CallSender calls, LocationCache locations, PeerTable peers, CallSweep sweep, FrameRights rights, Refusals refusals)
{
    /// <summary>Reads what follows the kind of the frame.</summary>
    /// <param name="sender">Where the frame comes from.</param>
    /// <param name="role">What it may say.</param>
    /// <param name="client">The client that answers, if its reply was relayed.</param>
    /// <param name="reader">Stands before the flags.</param>
    /// <param name="frame">The frame.</param>
    internal void Read(Sender sender, PeerRole role, SiloAddress? client, ref WireReader reader, ReadOnlySpan<byte> frame)
    {
        var header = ReplyHeader.Read(ref reader);
        var id = (long)header.Ticket;
        if (calls.Registry.FindCall(id) is not { } call)
            return;
        // A member may answer what was sent to another: it relays, or the call was forwarded to it. Of others the call must expect the
        // answer.
        if ((role != PeerRole.Member || client is not null) && !Expects(call, id, client ?? sender.Address, client is not null))
        {
            if (!rights.TryHold(sender, role, frame))
                refusals.Add(sender, Refusal.Reply, "an answer to a call of another node");
            return;
        }

        if (!call.TryClaim(id))
            return;
        if (header.Silo is not null && role != PeerRole.Client && client is null)
            locations.SetLocation(call.TargetId, new Location(header.Silo, default, header.Epoch));
        ReadOutcome(call, header, sender, ref reader);
        Publish(call);
    }

    /// <summary>
    /// The caller's node learns that another silo must reply now, so that the call fails at once if that silo dies.
    /// </summary>
    internal void ReadForwarded(SiloAddress peer, ref WireReader reader)
    {
        var note = ForwardedFrame.Read(ref reader);
        var id = (long)note.Ticket;
        if (calls.Registry.FindCall(id) is not { } call)
            return;
        var before = Volatile.Read(ref call.Remote);
        var known = before;
        if (call.Ticket != id || (ForwardedTo.Note(ref known, id) is { } last && last.Hop >= note.Hop))
            return;
        var forwarded = new ForwardedTo(note.Silo, peer, note.Hop, id, known);
        if (!ReferenceEquals(Interlocked.CompareExchange(ref call.Remote, forwarded, before), before))
            return;
        // The silo that must reply may have died before this note arrived.
        sweep.EndCallsIfDead(note.Silo);
        sweep.EndCallsIfDead(peer);
    }

    /// <summary>
    /// The answer to a request of a client that another silo could not send: this one must have the link of that process.
    /// </summary>
    internal void RelayOfSilo(ref WireReader reader, ReadOnlySpan<byte> frame)
    {
        var origin = Addresses.Read(ref reader);
        var mark = origin.IsClient ? reader.ReadFixed64() : 0;
        Relay(origin, mark, frame[reader.Position..]);
    }

    /// <summary>
    /// An observer of a client answers another client, which called it through this silo. This silo names the client that answers: the
    /// other one believes silos only.
    /// </summary>
    internal void RelayOfClient(Sender sender, ref WireReader reader, ReadOnlySpan<byte> frame)
    {
        var origin = Addresses.Read(ref reader);
        var reply = frame[reader.Position..];
        // The other client takes what this silo sends for well-formed. Observers tell no location.
        if (!origin.IsClient || reply.Length < ReplyHeader.MinBytes || (FrameKind)reply[0] != FrameKind.Reply
            || ((FrameFlags)reply[1] & ~FrameFlags.IsError) != 0)
        {
            refusals.Add(sender, Refusal.Origin, "a relayed reply to " + origin);
            return;
        }

        using var scratch = Scratch.Rent(calls);
        var writer = new WireWriter(scratch.Buffer, scratch.Session);
        writer.WriteByte((byte)FrameKind.ClientReply);
        Addresses.Write(ref writer, sender.Address);
        writer.WriteRaw(reply[1..]);
        writer.Commit();
        Relay(origin, 0, scratch.Buffer.Written);
    }

    private void Relay(SiloAddress origin, ulong mark, ReadOnlySpan<byte> reply)
    {
        var failure = peers.Send(origin, default, reply, mark);
        if (failure is not null)
            local.Log.RelayFailed(origin, failure);
    }

    private void ReadOutcome(Call call, in ReplyHeader header, Sender sender, ref WireReader reader)
    {
        try
        {
            if (header.IsError)
                call.Error = Codec<Exception>.Default.Read(ref reader) ?? new OrleansException("The call failed without an exception.");
            else
                call.ReadResult(ref reader);
        }
        catch (Exception exception)
        {
            refusals.Add(sender, Refusal.Data, "the result of " + call.Method.ActivityName, exception);
            call.Error = exception;
        }
    }

    private void Publish(Call call)
    {
        try
        {
            call.Publish();
        }
        catch (Exception exception)
        {
            // A synchronization context or task scheduler of the application.
            local.Log.StageFailed("receive", exception);
        }
    }

    /// <summary>
    /// Whether the use <paramref name="id"/> of a call waits for the answer of a node: it was sent there, or, if a silo has relayed the
    /// client's answer, it is a call of an observer of that client. Valid if the id is claimed afterwards: no id is used twice.
    /// </summary>
    private static bool Expects(Call call, long id, SiloAddress node, bool isRelayed)
    {
        if (call.Ticket != id)
            return false;
        return isRelayed
            ? SystemGrainIds.TryGetAddress(call.TargetId, out var owner) && owner.Equals(node)
            : node.Equals(ForwardedTo.DebtorOf(Volatile.Read(ref call.Remote), id));
    }
}
