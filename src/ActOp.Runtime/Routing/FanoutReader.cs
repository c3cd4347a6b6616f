using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Diagnostics;
using ActOp.Serialization;
using ActOp.Staging;
using ActOp.Wire;
using Orleans.Runtime;
using Orleans.Serialization;

namespace ActOp.Runtime.Routing;

/// <summary>
/// Reads a request for many observers or grains of this node: one call for each, with arguments of its own, as if each had got a frame.
/// </summary>
/// <remarks>
/// <para>Holds nothing. A frame for few is read by the thread that reads its link. One for more than <see cref="AtOnce"/> is delivered by a
/// <see cref="FanoutDelivery"/>.</para>
/// <para>Silos only: one frame of a client never becomes many calls. The receivers are observers of this node, each of which takes the call
/// into its mailbox or refuses it; that one is gone, full or fails concerns no other one. Grains may have moved: their requests are read
/// and routed as single ones.</para>
/// </remarks>
internal sealed class FanoutReader(
    LocalNode local, CallSender calls, SerializationLimitOptions decoding, ActivationTable activations, PeerTable peers, Stage work,
    RequestReader requests, FrameRights rights)
{
    /// <summary>
    /// Receivers of one step. With more, most of their calls would wait in mailboxes at the same time: new objects instead of pooled ones,
    /// and nothing is in the caches any more when their turns run.
    /// </summary>
    internal const int AtOnce = 256;

    private readonly byte[] _prefix = FanoutFrame.PrefixOf(local.Address);

    /// <summary>Reads what follows the kind of the frame.</summary>
    internal void Read(Sender sender, PeerRole role, ReadOnlySpan<byte> frame)
    {
        var isToGrains = (FrameKind)frame[0] == FrameKind.GrainFanout;
        if (!rights.IsMember(sender, role, frame, isToGrains ? "a request for many grains" : "a request for many observers"))
            return;
        using var scratch = Scratch.Rent(calls);
        var reader = new WireReader(frame[1..], scratch.Session);
        if ((isToGrains ? GrainFanoutFrame.Read(ref reader).Count : FanoutFrame.Read(ref reader).Count) > AtOnce)
            FanoutDelivery.Begin(this, peers, work, sender, role, frame);
        else if (Deliver(sender, role, frame, 0) > 0)
            throw new SerializerException("A frame has more receivers than it says.");
    }

    /// <summary>Delivers a frame to the next receivers.</summary>
    /// <param name="sender">Where the frame comes from.</param>
    /// <param name="role">What that may say: it is a member.</param>
    /// <param name="frame">The whole frame.</param>
    /// <param name="from">Where to go on: 0, or what this method has returned.</param>
    /// <returns>Where to go on; 0 after the last receiver.</returns>
    /// <exception cref="SerializerException">The frame is malformed.</exception>
    internal int Deliver(Sender sender, PeerRole role, ReadOnlySpan<byte> frame, int from) =>
        (FrameKind)frame[0] == FrameKind.GrainFanout
            ? DeliverToGrains(sender, role, frame, from) : DeliverToObservers(sender, role, frame, from);

    private int DeliverToGrains(Sender sender, PeerRole role, ReadOnlySpan<byte> frame, int from)
    {
        using var scratch = Scratch.Rent(calls, frame.Length);
        var session = scratch.Session;
        var reader = new WireReader(frame[1..], session);
        var fanout = GrainFanoutFrame.Read(ref reader);
        var header = ReadHeader(fanout.IsOneWay, ref reader, out var source);
        var deadline = requests.DeadlineOf(header);
        var content = frame[(1 + reader.Position)..];
        var limit = decoding.LimitOf(content.Length);
        var receivers = new WireReader(fanout.Receivers[from..], session);
        for (var count = 0; count < AtOnce && receivers.Remaining > 0; count++)
        {
            var target = fanout.ReadReceiver(ref receivers, out header.ReplyTo);
            session.Reset();
            session.LimitDecoded(limit);
            var own = new WireReader(content, session);
            requests.Read(sender, role, header, target, source, deadline, ref own, frame);
        }

        return receivers.Remaining > 0 ? from + receivers.Position : 0;
    }

    private int DeliverToObservers(Sender sender, PeerRole role, ReadOnlySpan<byte> frame, int from)
    {
        using var scratch = Scratch.Rent(calls, frame.Length);
        var session = scratch.Session;
        var reader = new WireReader(frame[1..], session);
        var fanout = FanoutFrame.Read(ref reader);
        if (!fanout.Prefix.SequenceEqual(_prefix))
            throw new SerializerException("A frame for many observers is for those of another node.");
        var header = ReadHeader(fanout.IsOneWay, ref reader, out var source);
        if (FindMethod(sender, fanout, header) is not { } method)
            return 0;
        var deadline = requests.DeadlineOf(header);
        var content = frame[(1 + reader.Position)..];
        var limit = decoding.LimitOf(content.Length);
        var key = new byte[_prefix.Length + FanoutFrame.DigestDigits];
        _prefix.CopyTo(key, 0);
        var until = Math.Min(fanout.Count, from + AtOnce);
        for (var index = from; index < until; index++)
        {
            header.ReplyTo = fanout.Receiver(index, key.AsSpan(_prefix.Length));
            var activation = FindActivation(ref key, out var target);
            var call = method.Rent(header.TypeArguments);
            requests.SetRouting(call, role, header, (sender.Address, sender.Mark), target);
            call.SetRemoteSource(source.Hash, source.Type, source.Key);
            call.Deadline = deadline;
            session.Reset();
            session.LimitDecoded(limit);
            var own = new WireReader(content, session);
            requests.ReadAndRoute(call, sender, header, activation, ref own);
        }

        return until < fanout.Count ? until : 0;
    }

    /// <summary>A frame that waited for a link was dropped: calls that somebody waits for are ended by the code that drops it.</summary>
    internal void Dropped(SiloAddress node, ref WireReader reader)
    {
        var fanout = FanoutFrame.Read(ref reader);
        if (!fanout.IsOneWay)
            return;
        var first = new byte[FanoutFrame.DigestDigits];
        fanout.Receiver(0, first);
        CountLost(node, GrainId.Create(SystemGrainIds.ObserverType, new IdSpan([.. fanout.Prefix, .. first])), fanout.Count, ref reader);
    }

    /// <summary>As <see cref="Dropped"/>, for a frame for grains.</summary>
    internal void DroppedOfGrains(SiloAddress node, ref WireReader reader)
    {
        var fanout = GrainFanoutFrame.Read(ref reader);
        if (!fanout.IsOneWay)
            return;
        var receivers = new WireReader(fanout.Receivers, reader.Session);
        CountLost(node, IdIntern.Current.Intern(fanout.ReadReceiver(ref receivers, out _)), fanout.Count, ref reader);
    }

    private void CountLost(SiloAddress node, GrainId first, int count, ref WireReader reader)
    {
        reader.ReadByte();
        var header = RequestHeader.Read(ref reader, out _, out _, out _);
        var lost = new SiloUnavailableException("The node " + node + " is unreachable from " + local.Address + ".");
        calls.Lost(TypeManifest.FindMethod(header.MethodId)?.Name ?? "", first, lost, count);
    }

    private static RequestHeader ReadHeader(bool isOneWay, ref WireReader reader, out GrainIdBytes source)
    {
        if ((FrameKind)reader.ReadByte() != FrameKind.Request)
            throw new SerializerException("A frame for many receivers has no request.");
        var header = RequestHeader.Read(ref reader, out _, out source, out _);
        if (header.HasOrigin || header.PlacedHere || header.Forwards > 0 || header.IsOneWay != isOneWay)
            throw new SerializerException("A frame for many receivers has a request that was forwarded, or with other answers.");
        return header;
    }

    /// <summary>The activation of the observer with a key. A key that is not found is kept, and replaced by another array.</summary>
    private Activation? FindActivation(ref byte[] key, out GrainId target)
    {
        target = new GrainId(SystemGrainIds.ObserverType, IdSpan.UnsafeCreate(key, (int)StableHash.HashOf(key)));
        if (activations.TryGet(target, out var activation))
        {
            target = activation.GrainId;
            return activation;
        }

        key = [.. key];
        return null;
    }

    /// <summary>The method of the request; null, and the calls are answered, if this process does not have it.</summary>
    private GrainMethod? FindMethod(Sender sender, scoped FanoutFrame fanout, in RequestHeader header)
    {
        try
        {
            FrameWriter.CreateCall(header.MethodId, header.TypeArguments).Recycle();
            return TypeManifest.FindMethod(header.MethodId);
        }
        catch (Exception exception)
        {
            rights.Refuse(sender, Refusal.Unknown, "a call of " + fanout.Count + " observers by an unknown method", exception);
            var here = SystemGrainIds.Client(local.Address);
            var digits = new byte[FanoutFrame.DigestDigits];
            for (var index = 0; index < fanout.Count && !fanout.IsOneWay; index++)
                rights.Answer(sender.Address, sender.Mark, fanout.Receiver(index, digits), here, exception);
            return null;
        }
    }
}
