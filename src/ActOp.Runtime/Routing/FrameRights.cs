using ActOp.Calls;
using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Diagnostics;
using ActOp.Serialization;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>
/// What the sender of a frame may say. The rights come from its link only: <see cref="Sender.Role"/>. A frame that its sender may not send
/// is refused: counted and logged (<see cref="Refusals"/>), and a waiting caller gets an error. A frame of a newcomer waits until a view
/// lists the newcomer (<see cref="HeldFrames"/>).
/// </summary>
/// <remarks>Holds nothing. On the thread that reads the frame.</remarks>
internal sealed class FrameRights(LocalNode local, CallSender calls, PeerTable peers, Refusals refusals, ClientRightsOptions rights)
{
    /// <summary>Raised when frames of a silo wait for a view that lists it: the table should be read now.</summary>
    internal event Action? NewcomerSeen;

    /// <summary>True for members. A frame of a newcomer waits, and others are refused.</summary>
    internal bool IsMember(Sender sender, PeerRole role, ReadOnlySpan<byte> frame, string what)
    {
        if (role == PeerRole.Member)
            return true;
        if (!TryHold(sender, role, frame))
            refusals.Add(sender, role == PeerRole.Client ? Refusal.Origin : Refusal.View, what);
        return false;
    }

    /// <summary>Keeps a frame of a silo until a view lists the silo. False if it must be refused now.</summary>
    internal bool TryHold(Sender sender, PeerRole role, ReadOnlySpan<byte> frame)
    {
        if (role != PeerRole.Newcomer || !peers.TryHold(sender, frame, out var isFirst))
            return false;
        if (isFirst)
            NewcomerSeen?.Invoke();
        return true;
    }

    /// <summary>
    /// Whether a request may go on by what its header says. If not, it waits, or it is refused and the sender has its answer.
    /// </summary>
    internal bool MayRequest(
        Sender sender, PeerRole role, in RequestHeader header, GrainId target, in GrainIdBytes source, ReadOnlySpan<byte> frame)
    {
        if (role == PeerRole.Member || Forbids(sender, role, header, target, source) is not { } forbidden)
            return true;
        if (forbidden.Reason != Refusal.View || !TryHold(sender, role, frame))
            Refuse(sender, forbidden, header, (sender.Address, sender.Mark), target);
        return false;
    }

    /// <summary>
    /// Whether a client may call a method. Asked by each silo on the way of its request: the first one may not know the method.
    /// </summary>
    internal bool MayCall(
        Sender sender, PeerRole role, in RequestHeader header, (SiloAddress Address, ulong Mark) caller, GrainId target, CallMethod method)
    {
        var isOfClient = role == PeerRole.Client || (header.HasOrigin && caller.Address.IsClient);
        // An operator's right is one of its link, and no other silo would know it: it ends at the parts of the silo that it has reached.
        var isOperator = role == PeerRole.Client && sender.IsOperator && SystemGrainIds.IsControl(target);
        if (!isOfClient || rights.Allows(method.Callers, isOperator))
            return true;
        Refuse(sender, new Forbidden(Refusal.Rights, "a call of " + target + ": " + method.ActivityName), header, caller, target);
        return false;
    }

    /// <summary>A frame that its sender may not send, or that cannot be read: counted and logged.</summary>
    internal void Refuse(Sender sender, Refusal reason, string what, Exception? exception = null) =>
        refusals.Add(sender, reason, what, exception);

    /// <summary>Tells a caller why its request does not run.</summary>
    internal void Answer(SiloAddress caller, ulong mark, ulong replyTo, GrainId target, Exception exception)
    {
        using var scratch = Scratch.Rent(calls);
        var writer = new WireWriter(scratch.Buffer, scratch.Session);
        new ReplyHeader(FrameFlags.IsError, replyTo, null, 0).Write(ref writer);
        Codec<Exception>.Default.Write(ref writer, exception);
        writer.Commit();
        peers.Send(caller, target, scratch.Buffer.Written, mark);
    }

    /// <summary>What a sender that is no member may not request.</summary>
    private Forbidden? Forbids(Sender sender, PeerRole role, in RequestHeader header, GrainId target, in GrainIdBytes source)
    {
        var isClient = role == PeerRole.Client;
        if (header.HasOrigin)
            return new(isClient ? Refusal.Origin : Refusal.View, "a forwarded call of " + target);
        if (header.PlacedHere)
            return new(isClient ? Refusal.Origin : Refusal.View, "a call that places " + target + " here");
        if (isClient && !sender.Owns(source.Type, source.Key))
            return new(Refusal.Source, "a call of " + target + " in the name of another node");
        if (!SystemGrainIds.IsControl(target))
            return null;
        if (isClient && !(SystemGrainIds.TryGetAddress(target, out var silo) && silo.Equals(local.Address)))
            return new(Refusal.Origin, "a call of " + target + ", which is not here");
        var callers = SystemRights.CallersOf(header.MethodId);
        return SystemRights.Allows(callers, role) || (isClient && sender.TenantCaller is null && rights.Allows(callers, sender.IsOperator))
            ? null
            : new(!isClient ? Refusal.View : callers == Callers.Administrators ? Refusal.Rights : Refusal.Method,
                "a call of " + target + ": " + (TypeManifest.FindMethod(header.MethodId)?.Name ?? "unknown method"));
    }

    private void Refuse(
        Sender sender, in Forbidden refusal, in RequestHeader header, (SiloAddress Address, ulong Mark) caller, GrainId target)
    {
        refusals.Add(sender, refusal.Reason, refusal.What);
        if (!header.IsOneWay)
            Answer(caller.Address, caller.Mark, header.ReplyTo, target, refusal.ToException(local.Address));
    }

    /// <summary>Why a request is refused.</summary>
    private readonly record struct Forbidden(Refusal Reason, string What)
    {
        /// <summary>A silo that is not known yet may repeat its call: it gets the exception on which callers do.</summary>
        internal Exception ToException(SiloAddress here) => Reason switch
        {
            Refusal.View => new SiloUnavailableException(
                "The silo " + here + " refused " + What + ": its view does not list the sender as a member."),
            Refusal.Rights => new UnauthorizedAccessException("The silo " + here + " refused " + What
                + ": clients have no right to it. Management needs ClientRightsOptions.Management on the silos, and what the tool for"
                + " operators asks needs that or ClusterSecurityOptions.OperatorSecret, on the silos and for the tool."),
            _ => new OrleansMessageRejectionException("The silo " + here + " refused " + What + "."),
        };
    }
}

/// <summary>
/// Which peers may call which methods of system targets: by <see cref="CallersAttribute"/>, and only methods of
/// <see cref="Orleans.ISystemTarget"/> interfaces of this process. Holds nothing; any thread.
/// </summary>
internal static class SystemRights
{
    internal static bool Allows(ulong methodId, PeerRole role) => Allows(CallersOf(methodId), role);

    internal static bool Allows(Callers callers, PeerRole role) => role switch
    {
        PeerRole.Member => true,
        PeerRole.Client => callers == Callers.Everyone,
        _ => callers is Callers.Silos or Callers.Everyone,
    };

    internal static Callers CallersOf(ulong methodId)
    {
        if (TypeManifest.FindMethod(methodId) is not { } method || !typeof(Orleans.ISystemTarget).IsAssignableFrom(method.InterfaceType))
            return Callers.Members;
        var call = method.Rent(null);
        var callers = call.Method.Callers;
        call.Recycle();
        return callers;
    }
}
