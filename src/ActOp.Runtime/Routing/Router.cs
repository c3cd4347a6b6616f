using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Placement;
using ActOp.Serialization;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>
/// Step 2 of a call's path, one switch: an activation of this silo, a silo that is known to have one, or ask the directory (and place the
/// grain if it is nowhere).
/// </summary>
/// <remarks>
/// Runs on the thread that has the call: the caller's turn, the receive stage, or the turn of an activation that forwards its queue.
/// </remarks>
internal sealed class Router(
    LocalNode local, ActivationTable activations, GrainClasses classes, GrainPlacement placement, Destinations destinations,
    Forwards forwards, Diversions diversions, Deliveries deliveries)
{
    private readonly BackgroundPart _lookups = local.Background.Part("lookups");

    /// <summary>Refuses requests of clients; null if it never does. Set before the start.</summary>
    internal Overload? Overload { get; set; }

    /// <summary>Requests of clients that start activations; null in a client. Set before the start.</summary>
    internal StartShares? Starts { get; set; }

    /// <summary>Where calls can go.</summary>
    internal Destinations Destinations => destinations;

    /// <summary>A call that starts in this process.</summary>
    internal void Route(Call call, GrainReference reference)
    {
        if (reference.Hint is Activation { Accepts: true } hint)
        {
            deliveries.Enter(call, hint);
            return;
        }

        if (reference.Hint is CachedLocation { IsStale: false } known && destinations.MayTrust(known.Silo))
        {
            ToSilo(call, known.Silo.Address, counted: false);
            return;
        }

        RouteByTable(call, reference.GrainId, reference);
    }

    /// <summary>
    /// The other silo that is known to have the grain; null if it is here, has no single place, or must be looked up. What
    /// <see cref="Route"/> would find without asking.
    /// </summary>
    internal SiloAddress? FindOther(GrainReference reference)
    {
        if (reference.Hint is Activation { Accepts: true })
            return null;
        if (reference.Hint is CachedLocation { IsStale: false } known && destinations.MayTrust(known.Silo))
            return known.Silo.Address;
        var target = reference.GrainId;
        if (SystemGrainIds.IsSystemGrain(target) || activations.TryGet(target, out _) || classes.TryGetWorker(target, out _)
            || destinations.FindTrusted(target) is not { } found)
        {
            return null;
        }

        reference.Hint = found;
        return found.Silo.Address.Equals(local.Address) ? null : found.Silo.Address;
    }

    /// <summary>A call that leaves in a frame with others counts as an edge all the same.</summary>
    internal void CountSent(Call call) => deliveries.CountSent(call);

    /// <summary>A request from another node.</summary>
    /// <param name="call">The request.</param>
    /// <param name="known">The activation that the bytes of its target's id have led to, if they have.</param>
    internal void RouteArrived(Call call, Activation? known)
    {
        if (Overload is { IsOn: true } overload && overload.Refuses(call))
            return;
        var target = call.RemoteTarget;
        if (Starts is { Waiting: > 0 } starts && starts.Follows(call, target))
            return;
        if (call.CalledThrough is not null)
        {
            RouteByTable(call, target, null);
        }
        else if (known is not null)
        {
            deliveries.Enter(call, known);
        }
        else if (activations.TryGet(target, out var activation))
        {
            deliveries.Enter(call, activation);
            activations.Remember(activation);
        }
        else
        {
            RouteByTable(call, target, null);
        }
    }

    /// <summary>A request whose activation ended before the request ran: it is routed again.</summary>
    internal void Reroute(Call call, Activation gone)
    {
        if (forwards.Drops(call))
            return;
        call.Step = CallStep.Request;
        call.Callee = null;
        if ((call.Flags & Call.Cancellable) != 0)
            call.Cancellation!.Leave();
        if (call.Reference is { } reference && ReferenceEquals(reference.Hint, gone))
            reference.Hint = null;
        if (gone.MovedTo is { IsNone: false } location)
            destinations.Learn(call.TargetId, location);
        if (forwards.TryCount(call, this))
            RouteByTable(call, call.TargetId, call.Reference, counted: true);
    }

    /// <param name="call">The request.</param>
    /// <param name="target">Its grain.</param>
    /// <param name="reference">The caller's reference, to remember the location; null for requests from the wire.</param>
    /// <param name="counted">The hop that may follow is counted already.</param>
    internal void RouteByTable(Call call, GrainId target, GrainReference? reference, bool counted = false)
    {
        if (call.CalledThrough is not null && TryDivert(call, target, counted))
            return;
        if (activations.TryGet(target, out var activation) && activation.State != ActivationState.Gone)
        {
            if (reference is not null && activation.Accepts && activation.Class.UsesDirectory)
                reference.Hint = activation;
            deliveries.Enter(call, activation);
            return;
        }

        if (SystemGrainIds.TryGetAddress(target, out var node))
        {
            // The observer of another client: silos are connected to it.
            if (!local.IsSilo && node.IsClient && !node.Equals(local.Address))
            {
                Ask(call, target, counted);
            }
            else if (destinations.IsKnown(node) || (call.Method.IsSystem && call.Reference is not null))
            {
                ToSilo(call, node, counted);
            }
            else
            {
                Activation.Fail(
                    call, new SiloUnavailableException("The silo " + node + " of " + target + " is not a member of the cluster."));
            }

            return;
        }

        if (local.IsSilo && classes.TryGetWorker(target, out var workers))
        {
            EnterOrBegin(call, target, workers);
            return;
        }

        if (call.PlacedHere && local.AcceptsActivations)
        {
            call.PlacedHere = false;
            // Otherwise this silo does not host the class, and places the grain elsewhere.
            if (classes.TryGet(target.Type, out var grainClass))
            {
                EnterOrBegin(call, target, grainClass);
                return;
            }
        }

        ToKnownOrAsk(call, target, reference, counted);
    }

    /// <summary>
    /// To the location that the cache has, unless the call was forwarded too often for that; else the directory is asked.
    /// </summary>
    private void ToKnownOrAsk(Call call, GrainId target, GrainReference? reference, bool counted)
    {
        if (Forwards.TrustsCaches(call) && destinations.FindTrusted(target) is { } found)
        {
            if (reference is not null)
                reference.Hint = found;
            ToSilo(call, found.Silo.Address, counted);
        }
        else
        {
            Ask(call, target, counted);
        }
    }

    /// <summary>
    /// A request through an interface that this silo has in another version, or not at all. If it cannot run here, an activation of this
    /// silo ends, and the grain is placed on a silo that can run it. False if it can run here.
    /// </summary>
    private bool TryDivert(Call call, GrainId target, bool counted)
    {
        var here = activations.TryGet(target, out var activation) && activation.State != ActivationState.Gone ? activation : null;
        if (here is { Class.IsOrdinary: false } || !diversions.IsIncompatible(call))
        {
            if (call is not OpaqueCall opaque || (here is null && !call.PlacedHere))
                return IsOfRemoteWorker(call, target, counted);
            opaque.Refuse();
            return true;
        }

        call.PlacedHere = false;
        if (here is not null)
            diversions.EndAndRoute(call, here, this);
        else
            ToKnownOrAsk(call, target, null, counted);
        return true;
    }

    /// <summary>
    /// A stateless worker that is hosted here does not know an opaque request. Silos that host it too may, but a request that several of
    /// them have not known is refused.
    /// </summary>
    private bool IsOfRemoteWorker(Call call, GrainId target, bool counted)
    {
        if (call is not OpaqueCall opaque || !classes.TryGetWorker(target, out _))
            return false;
        if (Forwards.TrustsCaches(call))
            Ask(call, target, counted);
        else
            opaque.Refuse();
        return true;
    }

    /// <summary>
    /// Starts an activation, if there is none, with the request in its mailbox. If the start fails, the request fails too. The start has
    /// the request context of the request.
    /// </summary>
    private void EnterOrBegin(Call call, GrainId target, Activations.GrainClass grainClass, bool hasShare = false)
    {
        // A grain is not activated for a call that is refused.
        if (deliveries.Refuses(call, target))
            return;
        if (!Deliveries.TryIsolate(call) || (!hasShare && grainClass.Worker is null && Starts is { } starts && starts.Holds(call, target)))
            return;
        var activation = grainClass.Worker is null
            ? activations.GetOrCreate(target, grainClass, withFirstRequest: true, out var created)
            : activations.PickWorker(target, grainClass, out created);
        var hasEntered = false;
        try
        {
            deliveries.Enter(call, activation);
            hasEntered = true;
        }
        finally
        {
            if (created && !hasEntered)
                activation.BeginWithoutRequest();
        }
    }

    /// <summary>A request that has waited for the share of its client (<see cref="StartShares"/>).</summary>
    internal void Begin(Call call, GrainId target)
    {
        if (local.AcceptsActivations && classes.TryGet(target.Type, out var grainClass))
            EnterOrBegin(call, target, grainClass, hasShare: true);
        else
            RouteByTable(call, target, null);
    }

    private void ToSilo(Call call, SiloAddress silo, bool counted)
    {
        if (silo.Equals(local.Address))
        {
            Activation.Fail(call, new OrleansMessageRejectionException("There is no " + call.TargetId + " on " + silo + " for the call "
                + call.Method.ActivityName + "."));
            return;
        }

        if (!counted && call.Origin == CallOrigin.Remote && !forwards.TryCount(call, this))
            return;
        deliveries.Send(call, silo);
    }

    /// <summary>The location is unknown: a silo asks the directory, a client sends the call to any silo.</summary>
    internal void Ask(Call call, GrainId target, bool counted)
    {
        if (!local.IsSilo)
        {
            if (destinations.PickGateway(target) is { } gateway)
            {
                ToSilo(call, gateway, counted);
            }
            else
            {
                Activation.Fail(call, new SiloUnavailableException("No silo of the cluster is connected for the call "
                    + call.Method.ActivityName + " to " + target + "."));
            }

            return;
        }

        if (placement.AreWorkers(target.Type))
            ToWorkers(call, target, counted);
        else if (Deliveries.TryIsolate(call) && !TryGoNow(call, target, counted))
            _lookups.Follow(LocateAsync(call, target, counted));
    }

    /// <summary>A stateless worker that cannot run here: it is on any of the silos that host it.</summary>
    private void ToWorkers(Call call, GrainId target, bool counted)
    {
        try
        {
            var silos = placement.CompatibleSilos(target, CalledAs.FromCall(call, classes));
            var others = Array.FindAll(silos, silo => !silo.Equals(local.Address));
            if (others.Length > 0)
                ToSilo(call, others[local.Random.Next(others.Length)], counted);
            else
                Activation.Fail(call, (call as OpaqueCall)?.Reason ?? new OrleansException("No other silo can run " + target + "."));
        }
        catch (OrleansException exception)
        {
            Activation.Fail(call, exception);
        }
    }

    /// <summary>True if the grain's silo was found synchronously, and the call was sent or has failed.</summary>
    private bool TryGoNow(Call call, GrainId target, bool counted)
    {
        try
        {
            var called = CalledAs.FromCall(call, classes);
            return placement.TryLocate(target, called, call.Context, CallTrace.OfRoute(call), out var silo, out var isNew)
                && TryGo(call, target, silo, isNew, counted);
        }
        catch (Exception exception)
        {
            Activation.Fail(call, exception);
            return true;
        }
    }

    /// <summary>
    /// False if the grain should be here, but this silo does not have it and is stopping or does not host its class; and if it should be
    /// on a silo that is dead, which the directory hears a turn later than this silo.
    /// </summary>
    private bool TryGo(Call call, GrainId target, SiloAddress silo, bool isNew, bool counted)
    {
        call.PlacedHere = isNew;
        if (!silo.Equals(local.Address))
        {
            if (destinations.IsDead(silo))
                return false;
            ToSilo(call, silo, counted);
            return true;
        }

        if (call.CalledThrough is not null && TryDivertPlaced(call, target, out var diverted))
            return diverted;
        if (activations.TryGet(target, out var activation))
            deliveries.Enter(call, activation);
        else if (local.AcceptsActivations && classes.TryGet(target.Type, out var grainClass))
            EnterOrBegin(call, target, grainClass);
        else
            return false;
        return true;
    }

    /// <summary>
    /// As <see cref="TryDivert"/>, when the directory or the placement has named this silo. False in <paramref name="diverted"/> if the
    /// location must be found again.
    /// </summary>
    private bool TryDivertPlaced(Call call, GrainId target, out bool diverted)
    {
        diverted = false;
        if (!activations.TryGet(target, out _) && diversions.IsIncompatible(call))
            return true;
        // An opaque request would run in a new activation of this silo, which cannot.
        call.PlacedHere |= call is OpaqueCall;
        return diverted = TryDivert(call, target, counted: true);
    }

    private async Task LocateAsync(Call call, GrainId target, bool counted)
    {
        try
        {
            while (true)
            {
                var (silo, isNew) = await placement.LocateAsync(
                    target, CalledAs.FromCall(call, classes), call.Context, CallTrace.OfRoute(call)).ConfigureAwait(false);
                if (TryGo(call, target, silo, isNew, counted))
                    return;
                // The activation that the directory lists here is gone already.
                if (silo.Equals(local.Address))
                    await placement.ForgetHereAsync(target).ConfigureAwait(false);
                if (!forwards.TryCount(call, this))
                    return;
            }
        }
        catch (Exception exception)
        {
            Activation.Fail(call, exception);
        }
    }
}

/// <summary>Where a call can go: locations that are known, nodes that are members or connected, and the gateways of a client.</summary>
/// <remarks>Owns nothing; reads the view, the connections and the cache of locations. Any thread.</remarks>
internal sealed class Destinations(LocalNode local, ClusterView cluster, PeerTable peers, LocationCache locations)
{
    /// <summary>The silo that a client prefers, if it is configured and known. Set before the start.</summary>
    internal Func<SiloAddress?>? PreferredGateway { get; set; }

    /// <summary>The location that the cache has, if its silo is to be trusted.</summary>
    internal CachedLocation? FindTrusted(GrainId grain) =>
        locations.FindLocation(grain) is { } found && MayTrust(found.Silo) ? found : null;

    internal bool IsDead(SiloAddress silo) => cluster.IsDead(silo);

    /// <summary>Where a grain is now.</summary>
    internal void Learn(GrainId grain, in Location location) => locations.SetLocation(grain, location);

    /// <summary>
    /// The grains of a stopping silo move, so a cached location there is looked up again. A client without a link to a silo uses another
    /// silo while the cluster decides whether that one is dead; a silo has no alternative.
    /// </summary>
    internal bool MayTrust(CachedSilo silo)
    {
        var view = cluster.View;
        if (!ReferenceEquals(silo.TrustedBy, view))
        {
            if (silo.Address.Equals(local.Address) || view.StatusOf(silo.Address) != SiloStatus.Active)
                return false;
            silo.TrustedBy = view;
        }

        return local.IsSilo || peers.IsConnected(silo.Address);
    }

    /// <summary>
    /// Such ids come from peers, in references too, and this node dials nobody because an id says so. Only the runtime itself calls the
    /// methods of system targets; those of others are checked before they are routed.
    /// </summary>
    internal bool IsKnown(SiloAddress node) =>
        node.IsClient || node.Equals(local.Address) || peers.IsConnected(node) || cluster.View.FindMember(node) is not null;

    /// <summary>
    /// The silo to which a client sends calls to a grain with unknown location: the same one for the same grain within a view.
    /// </summary>
    internal SiloAddress? PickGateway(GrainId grain)
    {
        if (PreferredGateway?.Invoke() is { } preferred && peers.IsConnected(preferred))
            return preferred;
        var active = cluster.Active;
        if (active.Length == 0)
            return null;
        var first = (int)(grain.GetUniformHashCode() % (uint)active.Length);
        return peers.FindConnected(active, first) ?? active[first];
    }
}

/// <summary>The two ends of a route: the mailbox of an activation of this process, and another node. Both are counted as edges.</summary>
/// <remarks>Owns nothing. Runs on the thread that has the call.</remarks>
internal sealed class Deliveries(NodeTenants? tenants, EdgeCounters edges, FrameWriter writer)
{
    /// <summary>Puts the request into the mailbox of an activation of this process.</summary>
    internal void Enter(Call call, Activation activation)
    {
        if (!TryIsolate(call) || (tenants is not null && Refuses(call, activation.GrainId)))
            return;
        call.Step = CallStep.Request;
        edges.CountOutgoing(call, activation);
        activation.EnqueueRequest(call);
    }

    /// <summary>Sends the request to another node.</summary>
    internal void Send(Call call, SiloAddress node)
    {
        edges.CountOutgoing(call, null);
        writer.SendRequest(call, node);
    }

    /// <summary>True if the caller may not call the grain; it has its answer then.</summary>
    internal bool Refuses(Call call, GrainId target)
    {
        if (tenants?.FindRefusal(call, target) is not { } refusal)
            return false;
        Activation.Fail(call, refusal);
        return true;
    }

    /// <inheritdoc cref="Router.CountSent"/>
    internal void CountSent(Call call) => edges.CountOutgoing(call, null);

    /// <summary>
    /// Copies the arguments and the values of the request context unless they are the runtime's already: the caller may change its own
    /// objects after this. False if that has failed, and the call with it.
    /// </summary>
    internal static bool TryIsolate(Call call)
    {
        if (call.ArgumentsIsolated)
            return true;
        var copies = CopyContext.Rent(call.Runtime);
        try
        {
            call.CopyArguments(copies);
            if (call.Context is { Values: { } values } context
                && ContextCodec.Copy(values, copies) is var copied
                && !ReferenceEquals(copied, values))
            {
                call.Context = new RequestContextData { Values = copied, ReentrancyId = context.ReentrancyId };
            }

            call.ArgumentsIsolated = true;
            return true;
        }
        catch (Exception exception)
        {
            Activation.Fail(call, exception);
            return false;
        }
        finally
        {
            copies.Reset();
        }
    }
}
