using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Placement;
using ActOp.Serialization;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>
/// Encodes calls as frames. A request is encoded on the caller's turn and a reply on the callee's, without a copy of the objects.
/// </summary>
/// <remarks>Stateless; any thread. The counterpart is <see cref="FrameReader"/>.</remarks>
internal sealed class FrameWriter(
    LocalNode local, CallSender calls, PeerTable peers, ClusterView cluster, ClusterManifests manifests, GrainClasses classes,
    AbandonedRequests abandoned)
{
    /// <summary>A call object of the method with this id, from its pool.</summary>
    /// <exception cref="OrleansMessageRejectionException">No generated code of this process has registered the method.</exception>
    internal static Call CreateCall(ulong methodId, string? typeArguments) =>
        (TypeManifest.FindMethod(methodId)
            ?? throw new OrleansMessageRejectionException("This process has no grain method with the id " + methodId.ToString("x16")
                + ": it does not reference the assembly of the interface, or references another version.")).Rent(typeArguments);

    /// <summary>Sends a request to the silo or client <paramref name="target"/>.</summary>
    internal void SendRequest(Call call, SiloAddress target)
    {
        var ticket = call.Ticket;
        if (abandoned.DropsUnsent(call))
            return;
        using var scratch = Scratch.Rent(calls);
        try
        {
            var writer = new WireWriter(scratch.Buffer, scratch.Session);
            WriteRequest(ref writer, call, ticket, target);
            writer.Commit();
        }
        catch (Exception exception)
        {
            Activation.Fail(call, exception);
            return;
        }

        var id = call.TargetId;
        var leavesHere = call.Origin != CallOrigin.Local;
        if (!leavesHere)
            Volatile.Write(ref call.Remote, target);
        var cancellation = (call.Flags & Call.Cancellable) != 0 ? call.Cancellation : null;
        if (cancellation is not null
            && !(leavesHere ? cancellation.TryLeave(target, Cancellations.NoteEnd(call, local.Clock.Now)) : cancellation.TrySend(ticket)))
        {
            if (call.TryClaim(ticket))
            {
                call.Error = Cancellations.NeverRan(call);
                call.Publish();
            }

            return;
        }

        var sent = peers.Send(target, id, scratch.Buffer.Written, channel: ChannelOf(call));
        if (cancellation is not null && !leavesHere && cancellation.EndSend(ticket))
            SendCancel(call, target, ticket);
        if (sent is not null)
        {
            if (call.TryClaim(ticket))
            {
                call.Error = sent;
                call.Publish();
            }
        }
        else if (leavesHere)
        {
            // A one-way or forwarded call: no caller waits for it here.
            if (!call.TryClaim())
                return;
            if (call.Origin == CallOrigin.Remote)
                SendForwarded(call, target);
            call.Recycle();
        }
    }

    /// <summary>Tells a node that a call of this process was cancelled. If it is not connected, another silo passes it on.</summary>
    internal void SendCancel(Call call, SiloAddress target, long ticket) =>
        SendCancel(target, new CancelFrame(local.Address, (ulong)ticket, call.TargetId, 0, Cancellations.NoteEnd(call, local.Clock.Now)));

    /// <summary>Passes a cancellation on. Sent once: if the link to the next node is lost with it, the request runs to its end.</summary>
    internal void SendCancel(SiloAddress target, in CancelFrame frame)
    {
        using var scratch = Scratch.Rent(calls);
        var writer = new WireWriter(scratch.Buffer, scratch.Session);
        frame.Write(ref writer, local.Clock.Now);
        writer.Commit();
        if (peers.Send(target, frame.Target, scratch.Buffer.Written) is not null && peers.FindConnected(cluster.Active, 0) is { } other)
            peers.Send(other, frame.Target, scratch.Buffer.Written);
    }

    private void SendForwarded(Call call, SiloAddress target)
    {
        using var scratch = Scratch.Rent(calls);
        var writer = new WireWriter(scratch.Buffer, scratch.Session);
        new ForwardedFrame(call.Forwards, call.ReplyTo, target).Write(ref writer);
        writer.Commit();
        // Sent only once: if it is lost, the caller waits for its timeout, and only if the target dies.
        peers.Send((SiloAddress)call.Remote!, default, scratch.Buffer.Written, call.OriginMark);
    }

    /// <summary>Sends the reply to a remote request, and recycles the call.</summary>
    internal void SendReply(Call call)
    {
        using var scratch = Scratch.Rent(calls);
        var channel = ChannelOf(call);
        try
        {
            var writer = new WireWriter(scratch.Buffer, scratch.Session);
            WriteReply(ref writer, call, call.Error);
            writer.Commit();
            if (scratch.Buffer.Length > peers.Channels.MaxFrameBytesOf(channel))
            {
                throw new LimitExceededException("The reply of " + call.Method.ActivityName + " has " + scratch.Buffer.Length
                    + " bytes; " + peers.Channels.LimitOf(channel) + " is " + peers.Channels.MaxFrameBytesOf(channel) + ".");
            }
        }
        catch (Exception exception)
        {
            scratch.Clear();
            var writer = new WireWriter(scratch.Buffer, scratch.Session);
            WriteReply(ref writer, call, exception);
            writer.Commit();
        }

        var origin = (SiloAddress)call.Remote!;
        var failure = peers.Send(origin, call.RemoteTarget, scratch.Buffer.Written, call.OriginMark, channel);
        if (failure is not null && RelayFor(call) is { } relay)
            failure = peers.Send(relay, call.RemoteTarget, Relayed(scratch, origin, call.OriginMark), channel: channel);
        if (failure is LimitExceededException)
            failure = SendInstead(call, origin, failure);
        if (failure is not null)
            local.Log.ReplyLost(call.Method.ActivityName, call.RemoteTarget, origin, failure);
        call.Recycle();
    }

    /// <summary>The number of the channel that carries the call and its answer.</summary>
    private int ChannelOf(Call call) => call.Method.Channel is { } name ? peers.Channels.NumberOf(name) : 0;

    /// <summary>The caller is told why its answer does not come: the news is short, so there is mostly room for it.</summary>
    private Exception? SendInstead(Call call, SiloAddress origin, Exception reason)
    {
        using var scratch = Scratch.Rent(calls);
        var writer = new WireWriter(scratch.Buffer, scratch.Session);
        WriteReply(ref writer, call, reason);
        writer.Commit();
        return peers.Send(origin, call.RemoteTarget, scratch.Buffer.Written, call.OriginMark) is null ? null : reason;
    }

    /// <summary>
    /// A silo that can reach a node without a connection to this one: the silo that forwarded the call, or any other if that one is gone.
    /// </summary>
    private SiloAddress? RelayFor(Call call) =>
        call.Via is { } via && peers.IsConnected(via) ? via : peers.FindConnected(cluster.Active, 0);

    private ReadOnlySpan<byte> Relayed(Scratch scratch, SiloAddress origin, ulong mark)
    {
        var inner = scratch.Buffer.Written.ToArray();
        scratch.Buffer.Clear();
        var writer = new WireWriter(scratch.Buffer, scratch.Session);
        writer.WriteByte((byte)FrameKind.RelayedReply);
        Addresses.Write(ref writer, origin);
        // Silos compare marks; what a client says about another one is not believed anyway.
        if (origin.IsClient && local.IsSilo)
            writer.WriteFixed64(mark);
        writer.WriteRaw(inner);
        writer.Commit();
        return scratch.Buffer.Written;
    }

    private void WriteRequest(ref WireWriter writer, Call call, long ticket, SiloAddress target)
    {
        HeaderOf(call, ticket, target).Write(ref writer, call.TargetId, SourceOf(call));
        WriteContent(ref writer, call);
    }

    /// <summary>The header of a request that goes to many observers of a node. Their ids and tickets are elsewhere in the frame.</summary>
    /// <param name="call">One of their calls.</param>
    /// <param name="target">The node.</param>
    /// <param name="deadline">The latest deadline of them. Unused for one-way calls.</param>
    /// <param name="source">Who calls.</param>
    internal RequestHeader SharedHeader(Call call, SiloAddress target, long deadline, out GrainId source)
    {
        source = SourceOf(call);
        var header = HeaderOf(call, 0, target);
        if (header.HasDeadline)
            header.TimeLeft = (uint)Math.Clamp(deadline - local.Clock.Now, 0, uint.MaxValue);
        return header;
    }

    /// <summary>Writes what follows the header: the request context, the trace and the arguments.</summary>
    internal void WriteContent(ref WireWriter writer, Call call)
    {
        if (call.Context is { } context)
        {
            writer.WriteGuid(context.ReentrancyId);
            ContextCodec.Write(ref writer, context.Values);
        }

        if (call.Trace is { } trace)
            TraceHeader.Write(ref writer, trace);
        if (call.Context is not null)
            CheckHeader(call, ref writer);

        call.WriteArguments(ref writer);
    }

    private RequestHeader HeaderOf(Call call, long ticket, SiloAddress target)
    {
        RequestHeader header = default;
        header.NamesInterface = Differs(call, target, out var called);
        if (header.NamesInterface)
            (header.Version, header.Interface) = (called.Version, called.Interface);
        header.Forwards = call.Forwards;
        header.PlacedHere = call.PlacedHere;
        header.MethodId = call.Method.Id;
        header.TypeArguments = call.Method.TypeArguments;
        header.ReplyTo = (ulong)ticket;
        header.Flags = (call.IsOneWay || call.Origin == CallOrigin.Nobody ? FrameFlags.OneWay : 0)
            | (call.Context is null ? 0 : FrameFlags.HasContext)
            | (header.TypeArguments is null ? 0 : FrameFlags.HasTypeArguments)
            | (call.Trace is null ? 0 : FrameFlags.HasTrace);
        if (call.Origin == CallOrigin.Remote)
        {
            local.Counts.Add(NodeEvent.Forwarded);
            header.Flags |= FrameFlags.HasOrigin;
            header.ReplyTo = call.ReplyTo;
            header.Origin = (SiloAddress)call.Remote!;
            header.Via = local.Address;
            // No client gets to know the mark of another.
            header.Mark = target.IsClient ? 0 : call.OriginMark;
        }

        if (call.Origin != CallOrigin.Nobody && call.Deadline < CallRegistry.NoDeadline)
        {
            header.Flags |= FrameFlags.HasDeadline;
            header.TimeLeft = (uint)Math.Clamp(call.Deadline - local.Clock.Now, 0, uint.MaxValue);
        }

        if (call is OpaqueCall opaque)
            header.Flags |= opaque.RestFlags;
        return header;
    }

    /// <summary>Of all that precedes the arguments, only the values of the request context can be long.</summary>
    private void CheckHeader(Call call, ref WireWriter writer)
    {
        if (writer.Position > local.MaxHeaderBytes)
        {
            throw new LimitExceededException(
                "The request context of the call " + call.Method.ActivityName + " and the rest of its header have "
                + writer.Position + " bytes; MaxMessageHeaderSize is " + local.MaxHeaderBytes + ".");
        }
    }

    /// <summary>
    /// Who calls. A client names nobody but itself: in a process with several nodes, a grain may call by a reference of the client.
    /// </summary>
    private GrainId SourceOf(Call call) =>
        call.SourceId is var source && !local.IsSilo && !SystemGrainIds.IsSystemGrain(source) ? default : source;

    /// <summary>
    /// Whether a request must say through which interface the grain is called. Without it, the receiver assumes the interface that declares
    /// the method, in its own version if a silo has sent the request, and without a version if a client has.
    /// </summary>
    private bool Differs(Call call, SiloAddress target, out CalledAs called)
    {
        var known = manifests.Known;
        called = default;
        if (call.Reference is { } reference)
        {
            var shared = reference.Shared;
            if (shared.InterfaceVersion == 0 && !known.HasVersions)
                return false;
            called = new CalledAs(shared.InterfaceName, shared.InterfaceVersion);
            if (IsSameEverywhere(shared, known) && known.Manifests.ContainsKey(target) && shared.Type == call.Method.InterfaceType)
                return false;
            return local.IsSilo && shared.Type == call.Method.InterfaceType
                ? !HasVersion(known, target, called)
                : shared.InterfaceVersion > 0;
        }

        if (call.CalledThrough is null && !known.HasVersions)
            return false;
        called = CalledAs.FromCall(call, classes);
        return called.Interface is not null && (call.CalledThrough is not null || !HasVersion(known, target, called));
    }

    private static bool HasVersion(KnownManifests known, SiloAddress silo, in CalledAs called) =>
        known.Manifests.TryGetValue(silo, out var types) && types.VersionOf(called.Interface!) == called.Version;

    /// <summary>Whether all known silos have this process's version of the interface; found once per change of the manifests.</summary>
    private static bool IsSameEverywhere(GrainReferenceShared shared, KnownManifests known)
    {
        if (shared.VersionNote is VersionNote note && ReferenceEquals(note.Known, known))
            return note.IsSame;
        var made = new VersionNote(known, known.AllHave(shared.InterfaceName, shared.InterfaceVersion));
        shared.VersionNote = made;
        return made.IsSame;
    }

    /// <summary>What was found with these manifests.</summary>
    private sealed record VersionNote(KnownManifests Known, bool IsSame);

    private void WriteReply(ref WireWriter writer, Call call, Exception? error)
    {
        // A caller that used another node, or no known location, gets the location of the grain.
        var tell = call.Forwards > 0 && !SystemGrainIds.IsSystemGrain(call.RemoteTarget);
        var flags = (error is null ? 0 : FrameFlags.IsError) | (tell ? FrameFlags.HasLocation : 0);
        new ReplyHeader(flags, call.ReplyTo, tell ? local.Address : null, (call.Callee as Activation)?.Epoch ?? 0).Write(ref writer);
        if (error is null)
            call.WriteResult(ref writer);
        else
            Codec<Exception>.Default.Write(ref writer, error);
    }
}

/// <summary>
/// The buffers with which a thread encodes and decodes messages: <c>using var scratch = Scratch.Rent(runtime);</c>. Reused, and does not
/// keep the node alive.
/// </summary>
/// <remarks>
/// A use within another one gets the same buffers, emptied: the outer one must not need its content any more. A long message is given up at
/// the end of its use, with the objects in it: the thread may not have another one for hours, and a silo has many threads.
/// </remarks>
internal sealed class Scratch : IDisposable
{
    /// <summary>What a message of this length holds may stay until the thread's next message: most messages are as short.</summary>
    private const int ShortBytes = 4096;

    [ThreadStatic]
    private static Scratch? t_instance;

    private int _read;

    private Scratch(CallRuntime runtime) => Session = new WireSession(runtime);

    internal WireBuffer Buffer { get; } = new(ShortBytes);

    internal WireSession Session { get; }

    /// <summary>This thread's scratch for messages of <paramref name="runtime"/>, emptied.</summary>
    /// <param name="runtime">The runtime that grain references are bound to.</param>
    /// <param name="read">The length of the message that is to be read; 0 for one that is written.</param>
    internal static Scratch Rent(CallRuntime runtime, int read = 0)
    {
        var scratch = t_instance;
        if (scratch is null || !scratch.Session.IsOf(runtime))
            t_instance = scratch = new Scratch(runtime);
        scratch.Clear();
        scratch._read = read;
        return scratch;
    }

    internal void Clear()
    {
        Buffer.Clear();
        Session.Reset();
    }

    public void Dispose()
    {
        if (Math.Max(Buffer.Length, _read) > ShortBytes)
            Clear();
    }
}
