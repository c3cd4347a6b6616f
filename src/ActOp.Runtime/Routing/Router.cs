using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Foundation;
using ActOp.Runtime.Locality;
using ActOp.Runtime.Placement;
using ActOp.Serialization;
using ActOp.Staging;
using ActOp.Wire;
using Orleans;
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
    LocalNode local,
    ActivationTable activations,
    GrainClasses classes,
    ClusterView cluster,
    ClusterManifests manifests,
    LocationCache locations,
    GrainPlacement placement,
    DirectoryClient directory,
    FrameWriter writer,
    PeerTable peers,
    EdgeCounters edges,
    AbandonedRequests abandoned,
    Stage workStage,
    BackgroundPart lookups,
    int maxForwards)
{
    /// <summary>A call that was forwarded this often is routed by the directory only, not by caches.</summary>
    private const int TrustedForwards = 2;

    /// <summary>After this number of forwards, the call pauses before each further one.</summary>
    private readonly int _freeForwards = TrustedForwards + maxForwards;

    /// <summary>
    /// The most that can be configured: with <see cref="TrustedForwards"/> and <see cref="PausedForwards"/>, the number of forwards fits
    /// the six bits that a frame has for it.
    /// </summary>
    internal const int MaxConfiguredForwards = 30;

    /// <summary>Forwards with a pause before a call fails: half a second in total.</summary>
    private const int PausedForwards = 25;

    /// <summary>Requests that wait for the end of activations that cannot serve them.</summary>
    private const int MaxDiverted = 10_000;

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(20);

    private int _diverted;

    /// <summary>Refuses requests of clients; null if it never does. Set before the start.</summary>
    internal Overload? Overload { get; set; }

    /// <summary>Requests of clients that start activations; null in a client. Set before the start.</summary>
    internal StartShares? Starts { get; set; }

    /// <summary>The silo that a client prefers, if it is configured and known. Set before the start.</summary>
    internal Func<SiloAddress?>? PreferredGateway { get; set; }

    private AbandonedRequests Abandoned => abandoned;

    private NodeTime Time => local.Time;

    private Stage WorkStage => workStage;

    /// <summary>A call that starts in this process.</summary>
    internal void Route(Call call, GrainReference reference)
    {
        if (reference.Hint is Activation { Accepts: true } hint)
        {
            EnterLocal(call, hint);
            return;
        }

        if (reference.Hint is CachedLocation { IsStale: false } known && MayTrust(known.Silo))
        {
            ToSilo(call, known.Silo.Address, counted: false);
            return;
        }

        RouteByTable(call, reference.GrainId, reference);
    }

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
            EnterLocal(call, known);
        }
        else if (activations.TryGet(target, out var activation))
        {
            EnterLocal(call, activation);
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
        if (abandoned.Drops(call))
            return;
        call.Step = CallStep.Request;
        call.Callee = null;
        if ((call.Flags & Call.Cancellable) != 0)
            call.Cancellation!.Leave();
        if (call.Reference is { } reference && ReferenceEquals(reference.Hint, gone))
            reference.Hint = null;
        if (gone.MovedTo is { IsNone: false } location)
            locations.Put(call.TargetId, location);
        if (CountForward(call))
            RouteByTable(call, call.TargetId, call.Reference, counted: true);
    }

    /// <param name="call">The request.</param>
    /// <param name="target">Its grain.</param>
    /// <param name="reference">The caller's reference, to remember the place; null for requests from the wire.</param>
    /// <param name="counted">The hop that may follow is counted already.</param>
    private void RouteByTable(Call call, GrainId target, GrainReference? reference, bool counted = false)
    {
        if (call.CalledThrough is not null && TryDivert(call, target, counted))
            return;
        if (activations.TryGet(target, out var activation) && activation.State != ActivationState.Gone)
        {
            if (reference is not null && activation.Accepts && activation.Class.UsesDirectory)
                reference.Hint = activation;
            EnterLocal(call, activation);
            return;
        }

        if (SystemGrainIds.TryGetAddress(target, out var place))
        {
            // The observer of another client: silos are connected to it.
            if (!local.IsSilo && place.IsClient && !place.Equals(local.Address))
            {
                Ask(call, target, counted);
            }
            else if (IsKnown(place) || (call.Method.IsSystem && call.Reference is not null))
            {
                ToSilo(call, place, counted);
            }
            else
            {
                Activation.Fail(
                    call, new SiloUnavailableException("The silo " + place + " of " + target + " is not a member of the cluster."));
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
        if (call.Forwards < TrustedForwards && locations.Find(target) is { } found && MayTrust(found.Silo))
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
    /// Such ids come from peers, in references too, and this node dials nobody because an id says so. Only the runtime itself calls the
    /// methods of system targets; those of others are checked before they are routed.
    /// </summary>
    private bool IsKnown(SiloAddress place) =>
        place.IsClient || place.Equals(local.Address) || peers.IsConnected(place) || cluster.View.Find(place) is not null;

    /// <summary>
    /// A request through an interface that this silo has in another version, or not at all. If it cannot run here, an activation of this
    /// silo ends, and the grain is placed on a silo that can run it. False if it can run here.
    /// </summary>
    private bool TryDivert(Call call, GrainId target, bool counted)
    {
        var here = activations.TryGet(target, out var activation) && activation.State != ActivationState.Gone ? activation : null;
        if (here is { Class.IsOrdinary: false } || !IsIncompatible(call))
        {
            if (call is not OpaqueCall opaque || (here is null && !call.PlacedHere))
                return IsOfRemoteWorker(call, target, counted);
            opaque.Refuse();
            return true;
        }

        call.PlacedHere = false;
        if (here is not null)
            EndAndRoute(call, here);
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
        if (call.Forwards < TrustedForwards)
            Ask(call, target, counted);
        else
            opaque.Refuse();
        return true;
    }

    private bool IsIncompatible(Call call) => call.CalledThrough is not null && CalledAs.Of(call, classes) is { Version: > 0 } called
        && !manifests.Versions.IsCompatible(called.Interface, called.Version, called.Interface is { } name ? classes.VersionOf(name)
            : (ushort)0);

    /// <summary>
    /// Ends an activation that cannot serve a request, and routes the request when it has ended. The activation ends when its running
    /// requests have; a request that waits longer than its deadline is dropped then. More than <see cref="MaxDiverted"/> are refused.
    /// </summary>
    private void EndAndRoute(Call call, Activation activation)
    {
        if (Interlocked.Increment(ref _diverted) > MaxDiverted)
        {
            Interlocked.Decrement(ref _diverted);
            activation.Refuse(call);
            return;
        }

        var called = CalledAs.Of(call, classes);
        activation.Deactivate(new DeactivationReason(DeactivationReasonCode.IncompatibleRequest, "A request for version " + called.Version
            + " of " + called.Interface + " arrived; this silo has version " + classes.VersionOf(called.Interface!) + "."));
        lookups.Follow(RouteAfterAsync(call, activation));
    }

    private async Task RouteAfterAsync(Call call, Activation ending)
    {
        await ending.Deactivated.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ForceYielding);
        Interlocked.Decrement(ref _diverted);
        if (abandoned.Drops(call))
            return;
        try
        {
            RouteByTable(call, call.TargetId, null);
        }
        catch (Exception exception)
        {
            Activation.Fail(call, exception);
        }
    }

    /// <summary>
    /// The grains of a stopping silo move, so a cached location there is looked up again. A client without a link to a silo uses another
    /// silo while the cluster decides whether that one is dead; a silo has no alternative.
    /// </summary>
    private bool MayTrust(CachedSilo silo)
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
    /// Starts an activation, if there is none, with the request in its mailbox. If the start fails, the request fails too. The start has
    /// the request context of the request.
    /// </summary>
    private void EnterOrBegin(Call call, GrainId target, Activations.GrainClass grainClass, bool hasShare = false)
    {
        if (!TryIsolate(call) || (!hasShare && grainClass.Worker is null && Starts is { } starts && starts.Holds(call, target)))
            return;
        var activation = grainClass.Worker is null
            ? activations.GetOrCreate(target, grainClass, withFirstRequest: true, out var created)
            : activations.PickWorker(target, grainClass, out created);
        var hasEntered = false;
        try
        {
            EnterLocal(call, activation);
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

    /// <summary>Puts the request into the mailbox of an activation of this process.</summary>
    private void EnterLocal(Call call, Activation activation)
    {
        if (!TryIsolate(call))
            return;
        call.Step = CallStep.Request;
        edges.CountOutgoing(call, activation);
        activation.EnqueueRequest(call);
    }

    private void ToSilo(Call call, SiloAddress silo, bool counted)
    {
        if (silo.Equals(local.Address))
        {
            Activation.Fail(call, new OrleansMessageRejectionException("There is no " + call.TargetId + " on " + silo + " for the call "
                + call.Method.ActivityName + "."));
            return;
        }

        if (!counted && call.Origin == CallOrigin.Remote && !CountForward(call))
            return;
        edges.CountOutgoing(call, null);
        writer.SendRequest(call, silo);
    }

    /// <summary>Counts a forward. Returns false if the call pauses first, or fails.</summary>
    private bool CountForward(Call call)
    {
        if (++call.Forwards <= _freeForwards)
            return true;
        if (call.Forwards <= _freeForwards + PausedForwards)
        {
            PausedCall.Begin(this, call);
        }
        else
        {
            Activation.Fail(call, new OrleansMessageRejectionException("The call " + call.Method.ActivityName + " to " + call.TargetId
                + " was forwarded " + call.Forwards + " times and reached no activation."));
        }

        return false;
    }

    /// <summary>The location is unknown: a silo asks the directory, a client sends the call to any silo.</summary>
    private void Ask(Call call, GrainId target, bool counted)
    {
        if (!local.IsSilo)
        {
            if (PickGateway(target) is { } gateway)
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

        if (manifests.Known.HostsOf(target.Type) is { AreWorkers: true })
            ToWorkers(call, target, counted);
        else if (TryIsolate(call) && !TryGoNow(call, target, counted))
            lookups.Follow(LocateAsync(call, target, counted));
    }

    /// <summary>A stateless worker that cannot run here: it is on any of the silos that host it.</summary>
    private void ToWorkers(Call call, GrainId target, bool counted)
    {
        try
        {
            var silos = placement.CompatibleSilos(target, CalledAs.Of(call, classes));
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

    /// <summary>
    /// The silo to which a client sends calls to a grain with unknown location: the same one for the same grain within a view.
    /// </summary>
    private SiloAddress? PickGateway(GrainId grain)
    {
        if (PreferredGateway?.Invoke() is { } preferred && peers.IsConnected(preferred))
            return preferred;
        var active = cluster.Active;
        if (active.Length == 0)
            return null;
        var first = (int)(grain.GetUniformHashCode() % (uint)active.Length);
        return peers.FindConnected(active, first) ?? active[first];
    }

    /// <summary>True if the grain's silo was found synchronously, and the call was sent or has failed.</summary>
    private bool TryGoNow(Call call, GrainId target, bool counted)
    {
        try
        {
            var called = CalledAs.Of(call, classes);
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
    /// False if the grain should be here, but this silo does not have it and is stopping or does not host its class.
    /// </summary>
    private bool TryGo(Call call, GrainId target, SiloAddress silo, bool isNew, bool counted)
    {
        call.PlacedHere = isNew;
        if (!silo.Equals(local.Address))
        {
            ToSilo(call, silo, counted);
            return true;
        }

        if (call.CalledThrough is not null && TryDivertPlaced(call, target, out var diverted))
            return diverted;
        if (activations.TryGet(target, out var activation))
            EnterLocal(call, activation);
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
        if (!activations.TryGet(target, out _) && IsIncompatible(call))
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
                    target, CalledAs.Of(call, classes), call.Context, CallTrace.OfRoute(call)).ConfigureAwait(false);
                if (TryGo(call, target, silo, isNew, counted))
                    return;
                // The activation that the directory lists is gone already.
                await directory.ForgetHereAsync(target).ConfigureAwait(false);
                if (!CountForward(call))
                    return;
            }
        }
        catch (Exception exception)
        {
            Activation.Fail(call, exception);
        }
    }

    /// <summary>
    /// Copies the arguments and the values of the request context unless they are the runtime's already: the caller may change its own
    /// objects after this.
    /// </summary>
    private static bool TryIsolate(Call call)
    {
        if (call.ArgumentsIsolated)
            return true;
        try
        {
            var copies = CopyContext.Rent();
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
    }

    /// <summary>
    /// A call that pauses between two forwards. It continues on the work stage, because the timer thread is shared by the process.
    /// </summary>
    private sealed class PausedCall : IStageItem
    {
        private readonly Router _router;
        private readonly Call _call;
        private ITimer? _timer;

        private PausedCall(Router router, Call call) => (_router, _call) = (router, call);

        internal static void Begin(Router router, Call call)
        {
            var paused = new PausedCall(router, call);
            paused._timer = router.Time.CreateTimer(static state => ((PausedCall)state!).OnDue(), paused, Pause, Timeout.InfiniteTimeSpan);
        }

        public void Execute()
        {
            _timer?.Dispose();
            if (!_router.Abandoned.Drops(_call))
                _router.Ask(_call, _call.TargetId, counted: true);
        }

        private void OnDue() => _router.WorkStage.Post(this);
    }
}
