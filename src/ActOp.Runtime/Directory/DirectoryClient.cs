using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Hosting;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>Asks the owner of a grain's slot, again while slots change hands. Any thread.</summary>
internal sealed class DirectoryClient(
    LocalNode local, ClusterView cluster, ActivationTable activations, GrainFactory factory, DirectoryService service, RegistrationFence fence)
{
    /// <summary>
    /// Waits end early when this silo learns of a view or serves more slots; these bounds are for what only the others know of.
    /// </summary>
    private static readonly TimeSpan FirstDelay = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan LongestDelay = TimeSpan.FromMilliseconds(200);

    /// <summary>How long a silo that stops waits for an owner.</summary>
    private static readonly TimeSpan LastPatience = TimeSpan.FromSeconds(1);

    /// <summary>What <see cref="LookupAsync"/> answers, if this silo serves the grain's slot and need not wait.</summary>
    internal bool TryLookup(in GrainId grain, out Location location)
    {
        location = default;
        if (!IsServedHere(grain))
            return false;
        var reply = service.LookupNow(grain);
        location = reply.Location;
        return reply.Status is DirectoryStatus.Ok or DirectoryStatus.NotFound;
    }

    /// <summary>Where the grain is registered; none when nowhere.</summary>
    internal async Task<Location> LookupAsync(GrainId grain)
    {
        var reply = await AskAsync(grain, static (target, id) => target.Lookup(id), grain).ConfigureAwait(false);
        return reply.Location;
    }

    /// <summary>
    /// Registers the activation unless the grain is registered elsewhere; answers which activation is registered then. One that takes over
    /// from a <paramref name="previous"/> one is registered only if that one is: none is answered when it is not and no other is either.
    /// </summary>
    internal ValueTask<Location> RegisterAsync(Activation activation, ActivationId previous)
    {
        var request = new RegisterRequest(activation.GrainId, local.Address, activation.ActivationId, previous);
        // Mostly: the slot is served here and the grain is new. Whatever else is the case is found again on the long way.
        if (IsServedHere(request.Grain) && service.RegisterNow(request) is { Status: DirectoryStatus.Ok } reply
            && Accepts(activation, reply))
            return new ValueTask<Location>(reply.Location);
        return new ValueTask<Location>(AskToRegisterAsync(activation, previous, request));
    }

    private async Task<Location> AskToRegisterAsync(Activation activation, ActivationId previous, RegisterRequest request)
    {
        while (true)
        {
            var reply = await AskAsync(activation.GrainId, static (target, wish) => target.Register(wish), request).ConfigureAwait(true);
            if (reply.Status == DirectoryStatus.Conflict && previous.IsDefault && reply.Location.Silo.Equals(local.Address))
            {
                // A silo has one activation of a grain at a time, and this is the one: what is listed here has ended without its
                // registration. It is taken over.
                request = request with { Previous = reply.Location.Activation };
                continue;
            }

            if (reply.Status == DirectoryStatus.NotFound && previous.IsDefault)
            {
                // What was to be taken over has been cleared meanwhile.
                request = request with { Previous = default };
                continue;
            }

            if (reply.Status != DirectoryStatus.Ok)
            {
                activation.Registered = false;
                return reply.Location;
            }

            if (Accepts(activation, reply))
                return reply.Location;
        }
    }

    internal async Task UnregisterAsync(Activation activation)
    {
        if (!activation.Registered)
            return;
        activation.Registered = false;
        // The last silo takes the directory with it.
        if (local.IsStopping && cluster.Active.Length == 0)
            return;
        var registration = new Registration(activation.GrainId, activation.Location);
        await AskAsync(activation.GrainId, static (target, gone) => target.Unregister(gone), registration).ConfigureAwait(true);
    }

    /// <summary>Removes the grain's registration if it names an activation of this silo that is here no longer.</summary>
    internal async Task ForgetHereAsync(GrainId grain)
    {
        var location = await LookupAsync(grain).ConfigureAwait(false);
        if (location.IsNone || !location.Silo.Equals(local.Address) || activations.TryGet(grain, out _))
            return;
        await AskAsync(grain, static (target, gone) => target.Unregister(gone), new Registration(grain, location)).ConfigureAwait(false);
    }

    private async Task<DirectoryReply> AskAsync<TArgument>(GrainId grain, Func<IDirectoryTarget, TArgument, ValueTask<DirectoryReply>> ask, TArgument argument)
    {
        var asked = local.Clock.Update();
        for (var delay = FirstDelay; ; delay = delay * 2 < LongestDelay ? delay * 2 : LongestDelay)
        {
            var wait = delay;
            var changed = service.Changed;
            if (service.Map.OwnerOf(grain) is { } owner)
            {
                try
                {
                    var reply = await ask(TargetAt(owner), argument).ConfigureAwait(true);
                    if (reply.Status is DirectoryStatus.Ok or DirectoryStatus.NotFound or DirectoryStatus.Conflict)
                        return reply;
                    if (reply.Status == DirectoryStatus.WrongOwner && reply.View > cluster.View.Number)
                        service.RefreshView();
                    if (reply.Status == DirectoryStatus.Leased)
                        wait = TimeSpan.FromMilliseconds(Math.Max(reply.RetryAfter, 1));
                }
                catch (SiloUnavailableException)
                {
                    // The owner died: the next view names another one.
                }
            }

            // What a silo that goes leaves in the directory, the view removes that it is not in.
            var patience = local.IsStopping && LastPatience < local.ResponseTimeout ? LastPatience : local.ResponseTimeout;
            if (local.Clock.Update() - asked + wait.TotalMilliseconds > patience.TotalMilliseconds)
                throw new SiloUnavailableException("The directory did not answer for " + grain + " within " + patience + ": its slot has no owner that is ready.");
            await changed.WaitAsync(wait, local.Time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        }
    }

    private bool IsServedHere(in GrainId grain) => service.Map.OwnerOf(grain) is { } owner && owner.Equals(local.Address);

    /// <summary>The order that <see cref="RegistrationFence"/> asks for: first the mark, then the question.</summary>
    private bool Accepts(Activation activation, in DirectoryReply reply)
    {
        activation.Epoch = reply.Location.Epoch;
        activation.Registered = true;
        return fence.Accepts(SlotMap.SlotOf(activation.GrainId), reply.View);
    }

    /// <summary>The slots of this silo are asked here and now: they are made for any thread.</summary>
    private IDirectoryTarget TargetAt(SiloAddress owner) =>
        owner.Equals(local.Address) ? service : factory.GetSystemTarget<IDirectoryTarget>(DirectoryService.Name, owner);
}
