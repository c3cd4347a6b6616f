using ActOp.Runtime.Activations;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Hosting;
using ActOp.Runtime.Routing;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>Sends activations to other silos and takes theirs. The sending half runs on the turns of the activations that leave.</summary>
internal sealed class Migrations(Node node) : IMigrationTarget
{
    internal const string Name = "migration";

    /// <summary>
    /// Hands the state to the target, in the request context of this turn; answers where the grain is then, or none when the target did not
    /// take it.
    /// </summary>
    internal async Task<Location> SendAsync(SiloAddress target, MigrationState state) =>
        await node.Factory.GetSystemTarget<IMigrationTarget>(Name, target).Accept(state.Previous, state.Values);

    public async ValueTask<Location> Accept(Registration previous, Dictionary<string, byte[]> values)
    {
        if (!node.AcceptsActivations)
            return default;
        var state = new MigrationState(node.Calls, previous, values) { Context = RequestContext.Current };
        // The sender must not have given up meanwhile: then the grain may have begun anew elsewhere.
        var patience = node.ResponseTimeout / 2;
        var asked = node.Clock.Update();
        while (true)
        {
            var activation = node.Activations.GetOrCreate(previous.Grain, node.Classes.Get(previous.Grain), out var created);
            if (created)
            {
                activation.Begin(state);
                var location = await state.Arrival;
                if (location.Silo is not null && location.Silo.Equals(node.Address))
                    node.Locality.Arrived(previous.Grain);
                return location;
            }

            if (activation.State == ActivationState.Active && activation.Registered)
                return activation.Location;
            // One that is still on its way out of here, or one that begins and will find the grain registered at the sender: the state
            // would only go back.
            var left = patience - TimeSpan.FromMilliseconds(node.Clock.Update() - asked);
            if (left <= TimeSpan.Zero)
                return default;
            await activation.Deactivated.WaitAsync(left, node.Time)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        }
    }
}
