using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Hosting;
using ActOp.Serialization;
using ActOp.Wire;
using Orleans.CodeGeneration;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>
/// Reads frames and delivers requests and replies. Runs on the receive stage. Malformed frames throw a
/// <see cref="Orleans.Serialization.SerializerException"/>; failures of delivery may throw other exceptions. The caller closes the link.
/// </summary>
internal sealed class FrameReader(
    LocalNode local, CallSender calls, ActivationTable activations, LocationCache locations, Router router, PeerTable peers,
    CallSweep sweep)
{
    internal void Read(SiloAddress peer, ReadOnlySpan<byte> frame)
    {
        var scratch = Scratch.Rent(calls);
        var reader = new WireReader(frame, scratch.Session);
        switch ((FrameKind)reader.ReadByte())
        {
            case FrameKind.Request:
                ReadRequest(peer, ref reader);
                break;
            case FrameKind.Reply:
                ReadReply(ref reader);
                break;
            case FrameKind.RelayedReply:
                Relay(ref reader, frame);
                break;
            case FrameKind.Forwarded:
                ReadForwarded(peer, ref reader);
                break;
            default:
                local.Log.UnknownFrame(peer, frame[0]);
                break;
        }
    }

    private void ReadRequest(SiloAddress peer, ref WireReader reader)
    {
        var flags = (FrameFlags)reader.ReadByte();
        var forwards = reader.ReadByte();
        var replyTo = reader.ReadFixed64();
        var methodId = reader.ReadFixed64();
        var hash = reader.ReadFixed32();
        var type = reader.ReadBytes();
        var key = reader.ReadBytes();
        var activation = activations.FindRecent(hash, type, key);
        var target = activation is null ? IdIntern.Current.Find(hash, type, key) : activation.GrainId;
        var sourceHash = reader.ReadFixed32();
        var sourceType = reader.ReadBytes();
        var sourceKey = reader.ReadBytes();
        var origin = peer;
        SiloAddress? via = null;
        if ((flags & FrameFlags.HasOrigin) != 0)
        {
            origin = Addresses.Read(ref reader);
            via = Addresses.Read(ref reader);
        }

        // The clocks of both nodes are coarse: a request that is dropped here must have expired at the caller.
        var deadline = calls.DeadlineOf((flags & FrameFlags.HasDeadline) != 0
            ? reader.ReadVarUInt32() + (long)Clock.Period.TotalMilliseconds
            : CallRegistry.NoDeadline);
        var typeArguments = (flags & FrameFlags.HasTypeArguments) != 0 ? reader.ReadString() : null;
        Call call;
        try
        {
            call = FrameWriter.CreateCall(methodId, typeArguments);
        }
        catch (Exception exception)
        {
            // Replies with an error without the call class, so that the caller need not wait for its timeout.
            RefuseUnknown(origin, replyTo, target, flags, exception);
            return;
        }

        call.Runtime = calls;
        call.Origin = (flags & FrameFlags.OneWay) != 0 ? CallOrigin.Nobody : CallOrigin.Remote;
        call.Flags = call.Method.Options
            | ((flags & FrameFlags.OneWay) != 0 ? InvokeMethodOptions.OneWay : 0)
            | ((flags & FrameFlags.ReadOnly) != 0 ? InvokeMethodOptions.ReadOnly : 0)
            | ((flags & FrameFlags.AlwaysInterleave) != 0 ? InvokeMethodOptions.AlwaysInterleave : 0);
        call.Remote = origin;
        call.Via = via;
        call.ReplyTo = replyTo;
        call.RemoteTarget = target;
        call.SetRemoteSource(sourceHash, sourceType, sourceKey);
        call.Forwards = (byte)(forwards & ~FrameWriter.PlacedHereBit);
        call.Deadline = deadline;
        call.PlacedHere = (forwards & FrameWriter.PlacedHereBit) != 0;
        call.ArgumentsIsolated = true;
        try
        {
            if ((flags & FrameFlags.HasContext) != 0)
                call.Context = new RequestContextData { ReentrancyId = reader.ReadGuid(), Values = ContextCodec.Read(ref reader) };
            if ((flags & FrameFlags.HasTrace) != 0)
                call.Trace = CallTrace.Arrived(TraceHeader.Read(ref reader));
            call.ReadArguments(ref reader);
        }
        catch (Exception exception)
        {
            Activation.Fail(call, exception);
            return;
        }

        router.RouteArrived(call, activation);
    }

    private void ReadReply(ref WireReader reader)
    {
        var flags = (FrameFlags)reader.ReadByte();
        var id = (long)reader.ReadFixed64();
        var location = default(Location);
        if ((flags & FrameFlags.HasLocation) != 0)
            location = new Location(Addresses.Read(ref reader), default, reader.ReadVarInt64());
        if (calls.Registry.Find(id) is not { } call || !call.TryClaim(id))
            return;
        if (!location.IsNone)
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
            call.Error = exception;
        }

        call.Publish();
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

    private void Relay(ref WireReader reader, ReadOnlySpan<byte> frame)
    {
        var origin = Addresses.Read(ref reader);
        var failure = peers.Send(origin, default, frame[reader.Position..]);
        if (failure is not null)
            local.Log.RelayFailed(origin, failure);
    }

    private void RefuseUnknown(SiloAddress origin, ulong replyTo, GrainId target, FrameFlags flags, Exception exception)
    {
        local.Log.UnknownMethod(target, origin, exception);
        if ((flags & FrameFlags.OneWay) == 0)
            Refuse(origin, replyTo, target, exception);
    }

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
        var origin = Addresses.Read(ref reader);
        Refuse(origin, replyTo, target, new SiloUnavailableException("The silo " + silo + " is unreachable from " + local.Address
            + ", which was to forward a call to " + target + " to it."));
    }

    private void Refuse(SiloAddress origin, ulong replyTo, GrainId target, Exception exception)
    {
        var scratch = Scratch.Rent(calls);
        var writer = new WireWriter(scratch.Buffer, scratch.Session);
        writer.WriteByte((byte)FrameKind.Reply);
        writer.WriteByte((byte)FrameFlags.IsError);
        writer.WriteFixed64(replyTo);
        Codec<Exception>.Default.Write(ref writer, exception);
        writer.Commit();
        peers.Send(origin, target, scratch.Buffer.Written);
    }
}
