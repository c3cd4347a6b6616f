using ActOp.Runtime.Activations;
using ActOp.Runtime.Hosting;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>Asks the owner of a grain's slot, again while slots change hands. Any thread.</summary>
internal sealed class DirectoryClient(Node node, DirectoryService service, RegistrationFence fence)
{
    /// <summary>Slots change hands in milliseconds; a dead owner's are rebuilt once the view says so.</summary>
    private static readonly TimeSpan FirstDelay = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan LongestDelay = TimeSpan.FromMilliseconds(200);

    /// <summary>Where the grain is registered; none when nowhere.</summary>
    internal async Task<Location> LookupAsync(GrainId grain)
    {
        var reply = await AskAsync(grain, static (target, id) => target.Lookup(id), grain).ConfigureAwait(false);
        return reply.Location;
    }

    /// <summary>Registers the activation unless the grain is registered elsewhere; answers which activation is registered then.</summary>
    internal async Task<Location> RegisterAsync(Activation activation, ActivationId previous)
    {
        var request = new RegisterRequest(activation.GrainId, node.Address, activation.ActivationId, previous);
        while (true)
        {
            var reply = await AskAsync(activation.GrainId, static (target, wish) => target.Register(wish), request).ConfigureAwait(true);
            if (reply.Status != DirectoryStatus.Ok)
            {
                activation.Registered = false;
                return reply.Location;
            }

            activation.Epoch = reply.Location.Epoch;
            activation.Registered = true;
            if (fence.Accepts(SlotMap.SlotOf(activation.GrainId), reply.View))
                return reply.Location;
        }
    }

    internal async Task UnregisterAsync(Activation activation)
    {
        if (!activation.Registered)
            return;
        activation.Registered = false;
        var registration = new Registration(activation.GrainId, new Location(node.Address, activation.ActivationId, activation.Epoch));
        await AskAsync(activation.GrainId, static (target, gone) => target.Unregister(gone), registration).ConfigureAwait(true);
    }

    private async Task<DirectoryReply> AskAsync<TArgument>(GrainId grain, Func<IDirectoryTarget, TArgument, ValueTask<DirectoryReply>> ask, TArgument argument)
    {
        var deadline = node.Clock.Update() + (long)node.ResponseTimeout.TotalMilliseconds;
        for (var delay = FirstDelay; ; delay = delay * 2 < LongestDelay ? delay * 2 : LongestDelay)
        {
            var wait = delay;
            if (service.Map.OwnerOf(grain) is { } owner)
            {
                try
                {
                    var reply = await ask(node.Factory.GetSystemTarget<IDirectoryTarget>(DirectoryService.Name, owner), argument).ConfigureAwait(true);
                    if (reply.Status is DirectoryStatus.Ok or DirectoryStatus.NotFound or DirectoryStatus.Conflict)
                        return reply;
                    if (reply.Status == DirectoryStatus.WrongOwner && reply.View > node.Silos.View.Number)
                        node.Cluster?.RefreshTable();
                    if (reply.Status == DirectoryStatus.Leased)
                        wait = TimeSpan.FromMilliseconds(Math.Max(reply.RetryAfter, 1));
                }
                catch (SiloUnavailableException)
                {
                    // The owner died: the next view names another one.
                }
            }

            if (node.Clock.Update() + wait.TotalMilliseconds > deadline)
                throw new SiloUnavailableException("The directory did not answer for " + grain + " within " + node.ResponseTimeout + ": its slot has no owner that is ready.");
            await Task.Delay(wait, node.Time).ConfigureAwait(true);
        }
    }
}
