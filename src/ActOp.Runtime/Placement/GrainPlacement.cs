using System.Collections.Concurrent;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace ActOp.Runtime.Placement;

/// <summary>Finds a grain in the directory and, when it is nowhere, chooses a silo for it. Any thread.</summary>
internal sealed class GrainPlacement(Node node)
{
    private readonly ConcurrentDictionary<GrainId, Task<(SiloAddress Silo, bool IsNew)>> _asked = new();
    private readonly ConcurrentDictionary<Type, IPlacementDirector> _directors = new();

    /// <summary>
    /// The silo of the grain, and whether it was chosen just now and does not have the grain yet. Callers at the same time share one
    /// question.
    /// </summary>
    internal Task<(SiloAddress Silo, bool IsNew)> LocateAsync(GrainId grain, RequestContextData? context)
    {
        if (_asked.TryGetValue(grain, out var running))
            return running;
        var source = new TaskCompletionSource<(SiloAddress, bool)>(TaskCreationOptions.RunContinuationsAsynchronously);
        running = _asked.GetOrAdd(grain, source.Task);
        if (ReferenceEquals(running, source.Task))
            _ = AnswerAsync(grain, context, source);
        return running;
    }

    /// <summary>A silo for a grain of this class, by its placement strategy; a hint in the request context wins.</summary>
    internal async Task<SiloAddress> PlaceAsync(GrainClass grainClass, GrainId grain, SiloAddress requester, RequestContextData? context)
    {
        var target = new PlacementTarget(grain, context?.Values ?? [], default, 0);
        var silos = node.Silos.Placeable;
        if (silos.Length == 0)
            throw new OrleansException("No silo is active that could host " + grain + ".");
        if (IPlacementDirector.GetPlacementHint(target.RequestContextData, silos) is { } hint)
            return hint;
        var director = _directors.GetOrAdd(grainClass.Placement.GetType(), FindDirector);
        try
        {
            return await director.OnAddActivation(grainClass.Placement, target, new PlacementContext(node, requester)).ConfigureAwait(false);
        }
        catch (Exception exception) when (exception is not OrleansException)
        {
            throw new OrleansException("The placement director " + director.GetType() + " failed for " + grain + ".", exception);
        }
    }

    private async Task AnswerAsync(GrainId grain, RequestContextData? context, TaskCompletionSource<(SiloAddress, bool)> source)
    {
        try
        {
            var location = await node.Directory.LookupAsync(grain).ConfigureAwait(false);
            var isNew = location.IsNone;
            if (isNew)
            {
                var silo = node.Hints.TryTake(grain, out var hint) && node.Silos.IsActive(hint)
                    ? hint
                    : await PlaceAsync(node.Classes.Get(grain), grain, node.Address, context).ConfigureAwait(false);
                location = new Location(silo, default, 0);
            }

            node.Locations.Put(grain, location);
            _asked.TryRemove(grain, out _);
            source.SetResult((location.Silo, isNew));
        }
        catch (Exception exception)
        {
            _asked.TryRemove(grain, out _);
            source.SetException(exception);
        }
    }

    private IPlacementDirector FindDirector(Type strategy) =>
        node.Services.GetKeyedService<IPlacementDirector>(strategy)
        ?? (strategy == typeof(RandomPlacement) ? new RandomDirector(node.Random)
            : strategy == typeof(PreferLocalPlacement) ? new PreferLocalDirector(node.Random)
            : strategy == typeof(HashBasedPlacement) ? new HashBasedDirector()
            : strategy == typeof(ActivationCountBasedPlacement) ? new ActivationCountDirector(node)
            : strategy == typeof(ResourceOptimizedPlacement) ? new DealingDirector(node.Random)
            : throw new OrleansConfigurationException("No placement director is registered for the strategy " + strategy + "; add one with AddPlacementDirector."));
}
