using ActOp.Calls;
using ActOp.Configuration;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Foundation;
using ActOp.Serialization;
using ActOp.Wire;
using Orleans.CodeGeneration;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>
/// Reads frames, checks what their sender may say, and delivers requests and replies. Runs on the receive stage, and on the control stage
/// for frames that have waited (<see cref="HeldFrames"/>).
/// </summary>
/// <remarks>
/// <para>The rights of a frame come from its link only: <see cref="Sender.Role"/>. A frame that its sender may not send, or that names
/// something unknown, is refused: counted and logged (<see cref="Refusals"/>), and a waiting caller gets an error.</para>
/// <para>Malformed frames throw a <see cref="Orleans.Serialization.SerializerException"/>, and the caller closes the link. Whatever else
/// goes wrong while a frame is delivered ends only its call.</para>
/// </remarks>
internal sealed class FrameReader(
    LocalNode local, CallSender calls, ActivationTable activations, LocationCache locations, Router router, PeerTable peers,
    CallSweep sweep, Refusals refusals, SerializationLimitOptions decoding, ClientRightsOptions rights,
    Cancellations cancellations)
{
    /// <summary>Bytes of a reply before its result: kind, flags and ticket.</summary>
    private const int ReplyHeader = 10;

    /// <summary>Raised when frames of a silo wait for a view that lists it: the table should be read now.</summary>
    internal event Action? NewcomerSeen;

    /// <summary>Reads one frame.</summary>
    /// <param name="sender">Where the frame comes from.</param>
    /// <param name="role">What it may say; not <see cref="PeerRole.Newcomer"/> for frames that have waited.</param>
    /// <param name="frame">The frame.</param>
    internal void Read(Sender sender, PeerRole role, ReadOnlySpan<byte> frame)
    {
        var scratch = Scratch.Rent(calls);
        scratch.Session.LimitDecoded(decoding.Of(frame.Length));
        var reader = new WireReader(frame, scratch.Session);
        switch ((FrameKind)reader.ReadByte())
        {
            case FrameKind.Request:
                ReadRequest(sender, role, ref reader, frame);
                break;
            case FrameKind.Reply:
                ReadReply(sender, role, null, ref reader, frame);
                break;
            case FrameKind.RelayedReply:
                if (role == PeerRole.Client)
                    RelayOfClient(sender, ref reader, frame);
                else if (IsMember(sender, role, frame, "a relayed reply"))
                    RelayOfSilo(ref reader, frame);
                break;
            case FrameKind.ClientReply:
                if (IsMember(sender, role, frame, "a reply of a client"))
                    ReadReplyOfClient(sender, role, ref reader, frame);
                break;
            case FrameKind.Forwarded:
                if (IsMember(sender, role, frame, "a note about a forwarded call"))
                    ReadForwarded(sender.Address, ref reader);
                break;
            case FrameKind.Cancel:
                ReadCancel(sender, role, ref reader, frame);
                break;
            default:
                refusals.Add(sender, Refusal.Frame, "a frame of the unknown kind " + frame[0]);
                break;
        }
    }

    private void ReadRequest(Sender sender, PeerRole role, ref WireReader reader, ReadOnlySpan<byte> frame)
    {
        var flags = (FrameFlags)reader.ReadByte();
        var forwards = reader.ReadByte();
        var namesInterface = (forwards & FrameWriter.InterfaceBit) != 0;
        forwards &= 0xFF & ~FrameWriter.InterfaceBit;
        var replyTo = reader.ReadFixed64();
        var methodId = reader.ReadFixed64();
        var hash = reader.ReadFixed32();
        var type = reader.ReadBytes();
        var key = reader.ReadBytes();
        IdIntern.Check(type, key);
        var activation = activations.FindRecent(hash, type, key);
        var target = activation is null ? IdIntern.Current.Find(hash, type, key) : activation.GrainId;
        var sourceHash = reader.ReadFixed32();
        var sourceType = reader.ReadBytes();
        var sourceKey = reader.ReadBytes();
        IdIntern.Check(sourceType, sourceKey);
        var origin = sender.Address;
        var mark = sender.Mark;
        SiloAddress? via = null;
        if ((flags & FrameFlags.HasOrigin) != 0)
            origin = Addresses.ReadOrigin(ref reader, out via, out mark);

        // The clocks of both nodes are coarse: a request that is dropped here must have expired at the caller. If no time is left, it has.
        var deadline = calls.DeadlineOf((flags & FrameFlags.HasDeadline) == 0 ? CallRegistry.NoDeadline
            : reader.ReadVarUInt32() is > 0 and var left ? left + (long)Clock.Period.TotalMilliseconds : 0);
        var called = namesInterface ? ReadInterface(ref reader) : null;
        var typeArguments = (flags & FrameFlags.HasTypeArguments) != 0 ? reader.ReadString() : null;
        if (role != PeerRole.Member
            && Forbids(sender, role, new Claim(flags, forwards, methodId, target, sender.Owns(sourceType, sourceKey))) is { } refusal)
        {
            if (refusal.Reason == Refusal.View && TryHold(sender, role, frame))
                return;
            RefuseRequest(sender, refusal, flags, (sender.Address, sender.Mark), replyTo, target);
            return;
        }

        Call call;
        try
        {
            call = FrameWriter.CreateCall(methodId, typeArguments);
        }
        catch (Exception exception) when (local.IsSilo && !SystemGrainIds.IsControl(target))
        {
            // Another silo may host the grain; if none does, the reply says why.
            call = NewOpaque(sender, target, methodId, typeArguments, exception);
            called ??= new CalledInterface(null, 0);
        }
        catch (Exception exception)
        {
            // Replies with an error without the call class, so that the caller need not wait for its timeout.
            refusals.Add(sender, Refusal.Unknown, "a call of " + target + " by an unknown method", exception);
            if ((flags & FrameFlags.OneWay) == 0)
                Refuse(origin, mark, replyTo, target, exception);
            return;
        }

        // Asked by each silo on the way: the first one may not know the method.
        if ((role == PeerRole.Client || (via is not null && origin.IsClient)) && !rights.Allows(call.Method.Callers))
        {
            var forbidden = new Forbidden(Refusal.Rights, "a call of " + target + ": " + call.Method.ActivityName);
            call.Recycle();
            RefuseRequest(sender, forbidden, flags, (origin, mark), replyTo, target);
            return;
        }

        call.Runtime = calls;
        call.Origin = (flags & FrameFlags.OneWay) != 0 ? CallOrigin.Nobody : CallOrigin.Remote;
        // Everything but one-way is a fact of the method, and never taken from the wire.
        call.Flags = call.Method.Options | ((flags & FrameFlags.OneWay) != 0 ? InvokeMethodOptions.OneWay : 0);
        call.Remote = origin;
        call.OriginMark = mark;
        call.Via = via;
        call.CalledThrough = called;
        call.ReplyTo = replyTo;
        call.RemoteTarget = target;
        call.SetRemoteSource(sourceHash, sourceType, sourceKey);
        // The first hop of a client's request is the client's.
        call.Forwards = role == PeerRole.Client ? (byte)0 : (byte)(forwards & ~FrameWriter.PlacedHereBit);
        call.Deadline = deadline;
        call.PlacedHere = (forwards & FrameWriter.PlacedHereBit) != 0;
        call.ArgumentsIsolated = true;
        try
        {
            if (call is OpaqueCall opaque)
                opaque.Take(flags, ref reader);
            else if ((flags & FrameFlags.HasContext) != 0)
                call.Context = new RequestContextData { ReentrancyId = reader.ReadGuid(), Values = ContextCodec.Read(ref reader) };
            if ((flags & FrameFlags.HasTrace) != 0 && call is not OpaqueCall)
                call.Trace = CallTrace.Arrived(TraceHeader.Read(ref reader));
            call.ReadArguments(ref reader);
        }
        catch (Exception exception)
        {
            refusals.Add(sender, Refusal.Data, "the arguments of " + call.Method.ActivityName + " for " + target, exception);
            Activation.Fail(call, exception);
            return;
        }

        if ((call.Flags & Call.Cancellable) != 0 && call.Origin == CallOrigin.Remote && (call.Cancellation!.IsLive || call is OpaqueCall))
            calls.Cancellables.Add(call.Cancellation);
        Deliver(call, activation);
    }

    /// <summary>
    /// A caller has cancelled a request, which is here, was here, or will come. A client may cancel its own requests only.
    /// </summary>
    private void ReadCancel(Sender sender, PeerRole role, ref WireReader reader, ReadOnlySpan<byte> frame)
    {
        var cancelled = CancelFrame.Read(ref reader, local.Clock.Now);
        if (role == PeerRole.Client ? !cancelled.Origin.Equals(sender.Address) : !IsMember(sender, role, frame, "a cancellation"))
        {
            if (role == PeerRole.Client)
                refusals.Add(sender, Refusal.Origin, "a cancellation of a call of another node");
            return;
        }

        cancellations.OfOther(cancelled);
    }

    private OpaqueCall NewOpaque(Sender sender, GrainId target, ulong methodId, string? typeArguments, Exception reason) => new(
        methodId, typeArguments, reason,
        () => refusals.Add(sender, Refusal.Unknown, "a call of " + target + " by an unknown method", reason));

    /// <summary>The interface of the caller; an empty name stands for the one that declares the method.</summary>
    private static CalledInterface ReadInterface(ref WireReader reader)
    {
        var version = reader.ReadVarUInt32();
        var name = reader.ReadString();
        return version <= ushort.MaxValue
            ? new CalledInterface(name.Length == 0 ? null : name, (ushort)version)
            : throw new Orleans.Serialization.SerializerException("A request names the version " + version + " of an interface.");
    }

    private void Deliver(Call call, Activation? activation)
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

    /// <summary>What a sender that is no member may not request.</summary>
    private Forbidden? Forbids(Sender sender, PeerRole role, in Claim claim)
    {
        var isClient = role == PeerRole.Client;
        if ((claim.Flags & FrameFlags.HasOrigin) != 0)
            return new(isClient ? Refusal.Origin : Refusal.View, "a forwarded call of " + claim.Target);
        if ((claim.Forwards & FrameWriter.PlacedHereBit) != 0)
            return new(isClient ? Refusal.Origin : Refusal.View, "a call that places " + claim.Target + " here");
        if (isClient && !claim.OwnsSource)
            return new(Refusal.Source, "a call of " + claim.Target + " in the name of another node");
        if (!SystemGrainIds.IsControl(claim.Target))
            return null;
        if (isClient && !(SystemGrainIds.TryGetAddress(claim.Target, out var place) && place.Equals(local.Address)))
            return new(Refusal.Origin, "a call of " + claim.Target + ", which is not here");
        return SystemRights.Allows(claim.MethodId, role)
            ? null
            : new(isClient ? Refusal.Method : Refusal.View, "a call of " + claim.Target + ": "
                + (ActOp.Serialization.TypeManifest.FindMethod(claim.MethodId)?.Name ?? "unknown method"));
    }

    /// <summary>True for members. A frame of a newcomer waits, and others are refused.</summary>
    private bool IsMember(Sender sender, PeerRole role, ReadOnlySpan<byte> frame, string what)
    {
        if (role == PeerRole.Member)
            return true;
        if (!TryHold(sender, role, frame))
            refusals.Add(sender, role == PeerRole.Client ? Refusal.Origin : Refusal.View, what);
        return false;
    }

    /// <summary>Keeps a frame of a silo until a view lists the silo. False if it must be refused now.</summary>
    private bool TryHold(Sender sender, PeerRole role, ReadOnlySpan<byte> frame)
    {
        if (role != PeerRole.Newcomer || !peers.TryHold(sender, frame, out var isFirst))
            return false;
        if (isFirst)
            NewcomerSeen?.Invoke();
        return true;
    }

    private void ReadReply(Sender sender, PeerRole role, SiloAddress? client, ref WireReader reader, ReadOnlySpan<byte> frame)
    {
        var flags = (FrameFlags)reader.ReadByte();
        var id = (long)reader.ReadFixed64();
        var location = default(Location);
        if ((flags & FrameFlags.HasLocation) != 0)
            location = new Location(Addresses.Read(ref reader), default, reader.ReadVarInt64());
        if (calls.Registry.Find(id) is not { } call)
            return;
        // A member may answer what was sent to another: it relays, or the call was forwarded to it. Of others the call must expect the
        // answer.
        if ((role != PeerRole.Member || client is not null) && !Expects(call, id, client ?? sender.Address, client is not null))
        {
            if (!TryHold(sender, role, frame))
                refusals.Add(sender, Refusal.Reply, "an answer to a call of another node");
            return;
        }

        if (!call.TryClaim(id))
            return;
        if (!location.IsNone && role != PeerRole.Client && client is null)
            locations.Put(call.TargetId, location);
        try
        {
            if ((flags & FrameFlags.IsError) != 0)
                call.Error = Codec<Exception>.Default.Read(ref reader) ?? new OrleansException("The call failed without an exception.");
            else
                call.ReadResult(ref reader);
        }
        catch (Exception exception)
        {
            refusals.Add(sender, Refusal.Data, "the result of " + call.Method.ActivityName, exception);
            call.Error = exception;
        }

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
            : node.Equals(ForwardedTo.Of(Volatile.Read(ref call.Remote), id));
    }

    private void ReadForwarded(SiloAddress peer, ref WireReader reader)
    {
        var hop = reader.ReadByte();
        var id = (long)reader.ReadFixed64();
        var silo = Addresses.Read(ref reader);
        if (calls.Registry.Find(id) is not { } call)
            return;
        var before = Volatile.Read(ref call.Remote);
        var known = before;
        if (call.Ticket != id || ForwardedTo.Note(ref known, id) is { } note && note.Hop >= hop)
            return;
        if (!ReferenceEquals(Interlocked.CompareExchange(ref call.Remote, new ForwardedTo(silo, peer, hop, id, known), before), before))
            return;
        // The silo that must reply may have died before this note arrived.
        sweep.EndCallsIfDead(silo);
        sweep.EndCallsIfDead(peer);
    }

    /// <summary>
    /// The answer to a request of a client that another silo could not send: this one must have the link of that process.
    /// </summary>
    private void RelayOfSilo(ref WireReader reader, ReadOnlySpan<byte> frame)
    {
        var origin = Addresses.Read(ref reader);
        var mark = origin.IsClient ? reader.ReadFixed64() : 0;
        Relay(origin, mark, frame[reader.Position..]);
    }

    private void Relay(SiloAddress origin, ulong mark, ReadOnlySpan<byte> reply)
    {
        var failure = peers.Send(origin, default, reply, mark);
        if (failure is not null)
            local.Log.RelayFailed(origin, failure);
    }

    /// <summary>
    /// An observer of a client answers another client, which called it through this silo. This silo names the client that answers: the
    /// other one believes silos only.
    /// </summary>
    private void RelayOfClient(Sender sender, ref WireReader reader, ReadOnlySpan<byte> frame)
    {
        var origin = Addresses.Read(ref reader);
        var reply = frame[reader.Position..];
        // The other client takes what this silo sends for well-formed. Observers tell no location.
        if (!origin.IsClient || reply.Length < ReplyHeader || (FrameKind)reply[0] != FrameKind.Reply
            || ((FrameFlags)reply[1] & ~FrameFlags.IsError) != 0)
        {
            refusals.Add(sender, Refusal.Origin, "a relayed reply to " + origin);
            return;
        }

        var scratch = Scratch.Rent(calls);
        var writer = new WireWriter(scratch.Buffer, scratch.Session);
        writer.WriteByte((byte)FrameKind.ClientReply);
        Addresses.Write(ref writer, sender.Address);
        writer.WriteRaw(reply[1..]);
        writer.Commit();
        Relay(origin, 0, scratch.Buffer.Written);
    }

    private void ReadReplyOfClient(Sender sender, PeerRole role, ref WireReader reader, ReadOnlySpan<byte> frame) =>
        ReadReply(sender, role, Addresses.Read(ref reader), ref reader, frame);

    /// <summary>
    /// A frame that waited for a link was dropped. For a forwarded request, the caller's node is informed. Own calls are ended by the code
    /// that drops the frame, and one-way calls are counted.
    /// </summary>
    internal void Dropped(SiloAddress silo, ReadOnlySpan<byte> frame)
    {
        var reader = new WireReader(frame, Scratch.Rent(calls).Session);
        if ((FrameKind)reader.ReadByte() != FrameKind.Request)
            return;
        var flags = (FrameFlags)reader.ReadByte();
        if ((flags & (FrameFlags.HasOrigin | FrameFlags.OneWay)) == 0)
            return;
        reader.ReadByte();
        var replyTo = reader.ReadFixed64();
        var method = reader.ReadFixed64();
        var target = IdIntern.Current.Read(ref reader);
        if ((flags & FrameFlags.OneWay) != 0)
        {
            calls.Lost(TypeManifest.FindMethod(method)?.Name
                ?? "", target, new SiloUnavailableException("The silo " + silo + " is unreachable from " + local.Address + "."));
            return;
        }

        IdIntern.Current.Read(ref reader);
        var origin = Addresses.ReadOrigin(ref reader, out _, out var mark);
        Refuse(origin, mark, replyTo, target, new SiloUnavailableException("The silo " + silo + " is unreachable from " + local.Address
            + ", which was to forward a call to " + target + " to it."));
    }

    private void RefuseRequest(
        Sender sender, in Forbidden refusal, FrameFlags flags, (SiloAddress Address, ulong Mark) caller, ulong replyTo, GrainId target)
    {
        refusals.Add(sender, refusal.Reason, refusal.What);
        if ((flags & FrameFlags.OneWay) == 0)
            Refuse(caller.Address, caller.Mark, replyTo, target, refusal.ToException(local.Address));
    }

    private void Refuse(SiloAddress origin, ulong mark, ulong replyTo, GrainId target, Exception exception)
    {
        var scratch = Scratch.Rent(calls);
        var writer = new WireWriter(scratch.Buffer, scratch.Session);
        writer.WriteByte((byte)FrameKind.Reply);
        writer.WriteByte((byte)FrameFlags.IsError);
        writer.WriteFixed64(replyTo);
        Codec<Exception>.Default.Write(ref writer, exception);
        writer.Commit();
        peers.Send(origin, target, scratch.Buffer.Written, mark);
    }

    /// <summary>What a request says of itself that depends on the rights of its sender.</summary>
    private readonly record struct Claim(FrameFlags Flags, byte Forwards, ulong MethodId, GrainId Target, bool OwnsSource);

    /// <summary>Why a request is refused.</summary>
    private readonly record struct Forbidden(Refusal Reason, string What)
    {
        /// <summary>A silo that is not known yet may repeat its call: it gets the exception on which callers do.</summary>
        internal Exception ToException(SiloAddress here) => Reason switch
        {
            Refusal.View => new SiloUnavailableException(
                "The silo " + here + " refused " + What + ": its view does not list the sender as a member."),
            Refusal.Rights => new UnauthorizedAccessException("The silo " + here + " refused " + What
                + ": clients have no right to it. Management needs ClientRightsOptions.Management on the silos."),
            _ => new OrleansMessageRejectionException("The silo " + here + " refused " + What + "."),
        };
    }
}
