using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace ActOp.Runtime.Placement;

/// <summary>Finds a grain in the directory. If it is not registered, chooses a silo for it. Any thread.</summary>
internal sealed class GrainPlacement(
    LocalNode local, ClusterView cluster, GrainClasses classes, LocationCache locations, PlacementHints hints, DirectoryClient directory,
        GrainFactory factory)
{
    private readonly ConcurrentDictionary<GrainId, Task<(SiloAddress Silo, bool IsNew)>> _lookups = new();
    private readonly ConcurrentDictionary<Type, IPlacementDirector> _directors = new();

    /// <summary>
    /// The silo of the grain, and whether it was chosen just now and does not have the grain yet. Concurrent callers share one lookup.
    /// </summary>
    internal Task<(SiloAddress Silo, bool IsNew)> LocateAsync(GrainId grain, RequestContextData? context)
    {
        if (_lookups.TryGetValue(grain, out var running))
            return running;
        var source = new TaskCompletionSource<(SiloAddress, bool)>(TaskCreationOptions.RunContinuationsAsynchronously);
        running = _lookups.GetOrAdd(grain, source.Task);
        if (ReferenceEquals(running, source.Task))
            _ = AnswerAsync(grain, context, source);
        return running;
    }

    /// <summary>
    /// The synchronous result of <see cref="LocateAsync"/>, if no wait is needed: this silo serves the grain's slot, no lookup of the grain
    /// is under way, and the director is built in. Two concurrent callers may choose different silos for a new grain; the directory then
    /// registers one of them.
    /// </summary>
    internal bool TryLocate(GrainId grain, RequestContextData? context, [NotNullWhen(true)] out SiloAddress? silo, out bool isNew)
    {
        (silo, isNew) = (null, false);
        if (_lookups.ContainsKey(grain) || !directory.TryLookup(grain, out var location))
            return false;
        isNew = location.IsNone;
        if (isNew && !TryPlace(grain, context, out location))
            return false;
        silo = location.Silo;
        // A grain of this silo is in the table of activations.
        if (!silo.Equals(local.Address))
            locations.Put(grain, location);
        return true;
    }

    private bool TryPlace(GrainId grain, RequestContextData? context, out Location location)
    {
        location = default;
        var silos = cluster.Placeable;
        var strategy = classes.Get(grain).Placement;
        if (silos.Length == 0 || DirectorOf(strategy) is not OwnDirector director)
            return false;
        var silo = hints.TryTake(grain, out var hint) && cluster.IsActive(hint)
            ? hint
            : IPlacementDirector.GetPlacementHint(context?.Values, silos) ?? director.Choose(grain, silos, local.Address);
        location = new Location(silo, default, 0);
        return true;
    }

    /// <summary>A silo for a grain of this class, by its placement strategy; a hint in the request context wins.</summary>
    internal async Task<SiloAddress> PlaceAsync(GrainClass grainClass, GrainId grain, SiloAddress requester, RequestContextData? context)
    {
        var target = new PlacementTarget(grain, context?.Values ?? [], default, 0);
        var silos = cluster.Placeable;
        if (silos.Length == 0)
            throw new OrleansException("No active silo can host " + grain + ".");
        if (IPlacementDirector.GetPlacementHint(target.RequestContextData, silos) is { } hint)
            return hint;
        var director = DirectorOf(grainClass.Placement);
        try
        {
            return await director.OnAddActivation(grainClass.Placement, target,
                new PlacementContext(cluster, requester)).ConfigureAwait(false);
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
            var location = await directory.LookupAsync(grain).ConfigureAwait(false);
            var isNew = location.IsNone;
            if (isNew)
            {
                var silo = hints.TryTake(grain, out var hint) && cluster.IsActive(hint)
                    ? hint
                    : await PlaceAsync(classes.Get(grain), grain, local.Address, context).ConfigureAwait(false);
                location = new Location(silo, default, 0);
            }

            locations.Put(grain, location);
            _lookups.TryRemove(grain, out _);
            source.SetResult((location.Silo, isNew));
        }
        catch (Exception exception)
        {
            _lookups.TryRemove(grain, out _);
            source.SetException(exception);
        }
    }

    private IPlacementDirector DirectorOf(PlacementStrategy strategy) =>
        _directors.TryGetValue(strategy.GetType(), out var known) ? known : _directors.GetOrAdd(strategy.GetType(), FindDirector);

    private IPlacementDirector FindDirector(Type strategy) =>
        local.Services.GetKeyedService<IPlacementDirector>(strategy)
        ?? (strategy == typeof(RandomPlacement) ? new RandomDirector(local.Random)
            : strategy == typeof(PreferLocalPlacement) ? new PreferLocalDirector(local.Random)
            : strategy == typeof(HashBasedPlacement) ? new HashBasedDirector()
            : strategy == typeof(ActivationCountBasedPlacement) ? new ActivationCountDirector(local, cluster, factory)
            : strategy == typeof(ResourceOptimizedPlacement) ? new ShuffledRoundRobinDirector(local.Random)
            : throw new OrleansConfigurationException("No placement director is registered for the strategy " + strategy
                + "; add one with AddPlacementDirector."));
}

/// <summary>The context of a placement director.</summary>
internal sealed class PlacementContext(ClusterView cluster, SiloAddress requester) : IPlacementContext
{
    public SiloAddress LocalSilo => requester;

    public SiloStatus LocalSiloStatus => cluster.View.StatusOf(requester);

    public SiloAddress[] GetCompatibleSilos(PlacementTarget target) => [.. cluster.Placeable];

    public IReadOnlyDictionary<ushort, SiloAddress[]> GetCompatibleSilosWithVersions(PlacementTarget target) =>
        new Dictionary<ushort, SiloAddress[]> { [0] = GetCompatibleSilos(target) };
}

/// <summary>
/// Target silos of grains that were deactivated to move (paper section 4.3). Any thread. Bounded: when full, the oldest half is removed.
/// </summary>
internal sealed class PlacementHints
{
    /// <summary>More grains than several rounds move.</summary>
    private const int Capacity = 65_536;

    private readonly ConcurrentDictionary<GrainId, SiloAddress> _hints = new();
    private readonly ConcurrentQueue<GrainId> _order = new();

    internal void Put(GrainId grain, SiloAddress silo)
    {
        _hints[grain] = silo;
        _order.Enqueue(grain);
        if (_order.Count <= Capacity)
            return;
        for (var i = 0; i < Capacity / 2 && _order.TryDequeue(out var oldest); i++)
            _hints.TryRemove(oldest, out _);
    }

    internal bool TryTake(GrainId grain, [NotNullWhen(true)] out SiloAddress? silo) => _hints.TryRemove(grain, out silo);
}
