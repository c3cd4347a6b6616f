using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>Sends requests to the owner of a grain's slot, and repeats them while slots are transferred. Any thread.</summary>
internal sealed class DirectoryClient(
    LocalNode local, ClusterView cluster, ActivationTable activations, GrainFactory factory, DirectoryService service,
    RegistrationFence fence)
{
    /// <summary>Bounds of a wait. A wait ends earlier when this silo gets a view or serves more slots.</summary>
    private static readonly TimeSpan FirstDelay = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan LongestDelay = TimeSpan.FromMilliseconds(200);

    /// <summary>How long a stopping silo waits for an owner.</summary>
    private static readonly TimeSpan LastPatience = TimeSpan.FromSeconds(1);

    /// <summary>The directories of the application; null without any.</summary>
    internal CustomDirectories? Custom { get; set; }

    /// <summary>Whether the grains of the type are registered in a directory of the application.</summary>
    internal bool IsCustom(GrainType grainType) => Custom?.FindDirectory(grainType) is not null;

    /// <summary>The result of <see cref="LookupAsync"/>, if this silo serves the grain's slot and need not wait.</summary>
    internal bool TryLookup(in GrainId grain, out Location location)
    {
        location = default;
        if (!IsServedHere(grain) || IsCustom(grain.Type))
            return false;
        var reply = service.LookupNow(grain);
        location = reply.Location;
        local.Counts.Add(NodeEvent.LookupHere);
        if (reply.Status == DirectoryStatus.Ok)
            local.Counts.Add(NodeEvent.LookupHereFound);
        return reply.Status is DirectoryStatus.Ok or DirectoryStatus.NotFound;
    }

    /// <summary>The registered location of the grain; none if it is not registered.</summary>
    internal async Task<Location> LookupAsync(GrainId grain)
    {
        if (Custom?.FindDirectory(grain.Type) is { } custom)
            return await Custom.LookupAsync(custom, grain).ConfigureAwait(false);
        local.Counts.Add(NodeEvent.Lookup);
        if (!IsServedHere(grain))
            local.Counts.Add(NodeEvent.LookupSent);
        var reply = await RequestAsync(grain, static (target, id) => target.Lookup(id), grain).ConfigureAwait(false);
        return reply.Location;
    }

    /// <summary>
    /// Registers the activation unless the grain is registered elsewhere. Returns the registered activation. With a <paramref
    /// name="previous"/> activation, registers only if that one is registered; returns none if neither it nor another is registered.
    /// </summary>
    internal ValueTask<Location> RegisterAsync(Activation activation, ActivationId previous)
    {
        if (Custom?.FindDirectory(activation.Class.GrainType) is { } custom)
            return new ValueTask<Location>(Custom.RegisterAsync(custom, activation, previous));
        var request = new RegisterRequest(activation.GrainId, local.Address, activation.ActivationId, previous);
        var isServedHere = IsServedHere(request.Grain);
        local.Counts.Add(NodeEvent.Registration);
        local.Counts.Add(isServedHere ? NodeEvent.RegistrationHere : NodeEvent.RegistrationSent);
        // Fast path: the slot is served here and the grain is new. All other cases take the asynchronous path.
        if (isServedHere && service.RegisterNow(request) is { Status: DirectoryStatus.Ok } reply
            && Accepts(activation, reply))
        {
            return new ValueTask<Location>(reply.Location);
        }

        return new ValueTask<Location>(RequestRegistrationAsync(activation, previous, request));
    }

    private async Task<Location> RequestRegistrationAsync(Activation activation, ActivationId previous, RegisterRequest request)
    {
        if (!activation.Registered)
            activation.Life.Registration = RegistrationState.Unknown;
        while (true)
        {
            var reply = await RequestAsync(activation.GrainId, static (target, request) => target.Register(request),
                request).ConfigureAwait(true);
            if (reply.Status == DirectoryStatus.Conflict && previous.IsDefault && reply.Location.Silo.Equals(local.Address))
            {
                // A silo has at most one activation of a grain, so the listed activation of this silo has ended without unregistering. It
                // is replaced.
                request = request with { Previous = reply.Location.Activation };
                continue;
            }

            if (reply.Status == DirectoryStatus.NotFound && previous.IsDefault)
            {
                // The previous registration was removed meanwhile.
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

    /// <summary>Removes the registration of the activation, also if it is not known whether there is one.</summary>
    internal async Task UnregisterAsync(Activation activation)
    {
        if (activation.Life.Registration == RegistrationState.None)
            return;
        if (Custom?.FindDirectory(activation.Class.GrainType) is { } custom)
        {
            await CustomDirectories.UnregisterAsync(custom, activation).ConfigureAwait(true);
            return;
        }

        try
        {
            // The last silo ends the directory too.
            if (local.IsStopping && cluster.Active.Length == 0)
                return;
            local.Counts.Add(NodeEvent.Unregistration);
            local.Counts.Add(IsServedHere(activation.GrainId) ? NodeEvent.UnregistrationHere : NodeEvent.UnregistrationSent);
            var registration = new Registration(activation.GrainId, activation.Location);
            await RequestAsync(activation.GrainId, static (target, gone) => target.Unregister(gone), registration).ConfigureAwait(true);
        }
        finally
        {
            // Not before: a slot that is rebuilt meanwhile would know nothing of it, and a silo that holds an older state would go on with
            // that.
            activation.Registered = false;
        }
    }

    /// <summary>
    /// Undoes what <see cref="RegisterAsync"/> did with a previous activation: that one is registered again. Without any effect if the
    /// activation is not registered any more. A silo that is dead gets nothing back.
    /// </summary>
    internal async Task GiveBackAsync(Activation activation, Registration previous)
    {
        if (IsCustom(activation.Class.GrainType) || !service.Map.View.MayHost(previous.Location.Silo))
        {
            await UnregisterAsync(activation).ConfigureAwait(true);
            return;
        }

        if (activation.Life.Registration == RegistrationState.None)
            return;
        try
        {
            var request = new RegisterRequest(
                activation.GrainId, previous.Location.Silo, previous.Location.Activation, activation.ActivationId);
            await RequestAsync(activation.GrainId, static (target, request) => target.Register(request), request).ConfigureAwait(true);
        }
        finally
        {
            activation.Registered = false;
        }
    }

    /// <summary>Removes the grain's registration if it names an ended activation of this silo.</summary>
    internal async Task ForgetHereAsync(GrainId grain)
    {
        if (Custom?.FindDirectory(grain.Type) is { } custom)
        {
            await Custom.ForgetHereAsync(custom, grain).ConfigureAwait(false);
            return;
        }

        var location = await LookupAsync(grain).ConfigureAwait(false);
        if (location.IsNone || !location.Silo.Equals(local.Address) || activations.TryGet(grain, out _))
            return;
        await RequestAsync(grain, static (target, gone) => target.Unregister(gone),
            new Registration(grain, location)).ConfigureAwait(false);
    }

    private async Task<DirectoryReply> RequestAsync<TArgument>(
        GrainId grain, Func<IDirectoryTarget, TArgument, ValueTask<DirectoryReply>> ask, TArgument argument)
    {
        var asked = local.Clock.Update();
        var stopping = local.Background.Stopping;
        for (var delay = FirstDelay; ; delay = delay * 2 < LongestDelay ? delay * 2 : LongestDelay)
        {
            // No timer ends a wait on a node that has stopped.
            if (stopping.IsCancellationRequested)
                throw new SiloUnavailableException("The silo " + local.Address + " has stopped.");
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

            // Entries of a stopping silo are removed by the view without it.
            var patience = local.IsStopping && LastPatience < local.ResponseTimeout ? LastPatience : local.ResponseTimeout;
            if (local.Clock.Update() - asked + wait.TotalMilliseconds > patience.TotalMilliseconds)
            {
                throw new SiloUnavailableException("The directory did not answer for " + grain + " within " + patience
                    + ": the slot has no ready owner.");
            }

            await changed.WaitAsync(wait, local.TaskTime, stopping).ConfigureAwait(
                ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        }
    }

    private bool IsServedHere(in GrainId grain) => service.Map.OwnerOf(grain) is { } owner && owner.Equals(local.Address);

    /// <summary>The order that <see cref="RegistrationFence"/> requires: mark first, then check.</summary>
    private bool Accepts(Activation activation, in DirectoryReply reply)
    {
        activation.Epoch = reply.Location.Epoch;
        activation.Registered = true;
        return fence.Accepts(SlotMap.SlotOf(activation.GrainId), reply.View);
    }

    /// <summary>The slots of this silo are read synchronously: they may be used by any thread.</summary>
    private IDirectoryTarget TargetAt(SiloAddress owner) =>
        owner.Equals(local.Address) ? service : factory.GetSystemTarget<IDirectoryTarget>(DirectoryService.Name, owner);
}
