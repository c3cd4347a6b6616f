using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Hosting;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>
/// Step 2 of a call's path, one switch: an activation of this silo, a silo that is known to have one, or ask the
/// directory (and place the grain if it is nowhere).
/// </summary>
/// <remarks>Runs on the thread that brings the call: the caller's turn, the receive stage, or the turn of an activation that sends its queue on.</remarks>
internal sealed class Router(Node node)
{
    /// <summary>A call that was sent on this often trusts no cache any more: the next hop is what the directory says.</summary>
    private const int TrustedForwards = 2;

    /// <summary>Hops that a call is granted beyond the configured ones while silos die and grains move; before each it waits twice as long, 150 ms in all.</summary>
    private const int PatientForwards = 4;
    private const int FirstPatienceMs = 10;

    /// <summary>A call that was sent on this often has met a cluster in flux at every hop; more hops would not help it.</summary>
    private readonly int _maxForwards = TrustedForwards + node.MaxForwards + PatientForwards;

    /// <summary>A call that starts in this process.</summary>
    internal void Route(Call call, GrainReference reference)
    {
        if (reference.Hint is Activation { Accepts: true } hint)
        {
            EnterLocal(call, hint);
            return;
        }

        RouteByTable(call, reference.GrainId, reference);
    }

    /// <summary>A request that came over the wire.</summary>
    internal void RouteArrived(Call call)
    {
        var target = call.RemoteTarget;
        if (node.Activations.TryGet(target, out var activation))
            EnterLocal(call, activation);
        else
            RouteByTable(call, target, null);
    }

    /// <summary>A request whose activation ended before it ran: it goes where the grain is now.</summary>
    internal void Reroute(Call call, Activation gone)
    {
        call.Step = CallStep.Request;
        call.Callee = null;
        if (!MayForward(call))
            return;
        if (call.Reference is { } reference && ReferenceEquals(reference.Hint, gone))
            reference.Hint = null;
        if (gone.MovedTo is { IsNone: false } location)
            node.Locations.Put(call.TargetId, location);
        RouteByTable(call, call.TargetId, call.Reference);
    }

    private void RouteByTable(Call call, GrainId target, GrainReference? reference)
    {
        if (node.Activations.TryGet(target, out var activation) && activation.State != ActivationState.Gone)
        {
            if (reference is not null && activation.Accepts && activation.Class.UsesDirectory)
                reference.Hint = activation;
            EnterLocal(call, activation);
            return;
        }

        if (WellKnown.TryGetAddress(target, out var fixedSilo))
        {
            ToSilo(call, fixedSilo);
            return;
        }

        if (node.IsSilo && node.Classes.TryGetWorker(target, out var workers))
        {
            EnterLocal(call, node.Activations.GetWorkers(target, workers).Pick());
            return;
        }

        if (call.PlacedHere && node.AcceptsActivations)
        {
            call.PlacedHere = false;
            EnterLocal(call, node.Activations.GetOrCreate(target, node.Classes.Get(target), null, out _));
            return;
        }

        if (call.Forwards < TrustedForwards && node.Locations.TryGet(target, out var location) && MayTrust(location.Silo))
            ToSilo(call, location.Silo);
        else
            Ask(call, target);
    }

    /// <summary>
    /// A silo that is on its way out sends its grains elsewhere, so a cached location there is asked for again. A client that has lost its
    /// link to a silo takes another way while the silos find out whether that one is dead; a silo has no other way.
    /// </summary>
    private bool MayTrust(SiloAddress silo) => !silo.Equals(node.Address) && node.Silos.IsActive(silo) && (node.IsSilo || node.Peers.IsConnected(silo));

    /// <summary>Puts the request into the mailbox of an activation of this process.</summary>
    private void EnterLocal(Call call, Activation activation)
    {
        if (!TryIsolate(call))
            return;
        call.Step = CallStep.Request;
        node.Edges.CountOutgoing(call, activation);
        if (!activation.TryEnqueueRequest(call))
            Activation.Fail(call, new LimitExceededException("The mailbox of " + activation.GrainId + " is full: " + node.MailboxLimit + " requests wait. The call " + call.Method.ActivityName + " was refused."));
    }

    private void ToSilo(Call call, SiloAddress silo)
    {
        if (silo.Equals(node.Address))
        {
            Activation.Fail(call, new OrleansMessageRejectionException("There is no " + call.TargetId + " on " + silo + " for the call " + call.Method.ActivityName + "."));
            return;
        }

        if (call.Origin == CallOrigin.Remote && !MayForward(call))
            return;
        node.Edges.CountOutgoing(call, null);
        node.Messages.SendRequest(call, silo);
    }

    private bool MayForward(Call call)
    {
        if (++call.Forwards <= _maxForwards)
            return true;
        Activation.Fail(call, new OrleansMessageRejectionException("The call " + call.Method.ActivityName + " to " + call.TargetId + " was sent on " + _maxForwards + " times and found no activation that takes it."));
        return false;
    }

    /// <summary>Nobody here knows where the grain is: a silo asks the directory, a client asks any silo.</summary>
    private void Ask(Call call, GrainId target)
    {
        if (!node.IsSilo)
        {
            if (node.Silos.Pick(target) is { } gateway)
                ToSilo(call, gateway);
            else
                Activation.Fail(call, new SiloUnavailableException("No silo of the cluster is connected for the call " + call.Method.ActivityName + " to " + target + "."));
            return;
        }

        if (!TryIsolate(call))
            return;
        _ = AskAsync(call, target);
    }

    private async Task AskAsync(Call call, GrainId target)
    {
        try
        {
            while (true)
            {
                var impatient = _maxForwards - PatientForwards;
                if (call.Forwards >= impatient)
                    await Task.Delay(TimeSpan.FromMilliseconds(FirstPatienceMs << Math.Min(call.Forwards - impatient, PatientForwards)), node.Time).ConfigureAwait(false);
                var (silo, isNew) = await node.Placement.LocateAsync(target, call.Context).ConfigureAwait(false);
                call.PlacedHere = isNew;
                if (!silo.Equals(node.Address))
                {
                    ToSilo(call, silo);
                    return;
                }

                if (node.AcceptsActivations || node.Activations.TryGet(target, out _))
                {
                    EnterLocal(call, node.Activations.GetOrCreate(target, node.Classes.Get(target), null, out _));
                    return;
                }

                // This silo goes, and the activation that the directory lists is gone already.
                if (!MayForward(call))
                    return;
                await node.Directory.ForgetHereAsync(target).ConfigureAwait(false);
            }
        }
        catch (Exception exception)
        {
            Activation.Fail(call, exception);
        }
    }

    /// <summary>Copies the arguments unless they are the runtime's already: the caller may change its own from here on.</summary>
    private static bool TryIsolate(Call call)
    {
        if (call.ArgumentsIsolated)
            return true;
        try
        {
            call.CopyArguments(CopyContext.Rent());
            call.ArgumentsIsolated = true;
            return true;
        }
        catch (Exception exception)
        {
            Activation.Fail(call, exception);
            return false;
        }
    }
}
