using ActOp.Runtime.Hosting;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace ActOp.Runtime.Placement;

/// <summary>What a placement director may know.</summary>
internal sealed class PlacementContext(Node node, SiloAddress requester) : IPlacementContext
{
    public SiloAddress LocalSilo => requester;

    public SiloStatus LocalSiloStatus => node.Silos.View.StatusOf(requester);

    public SiloAddress[] GetCompatibleSilos(PlacementTarget target) => [.. node.Silos.Placeable];

    public IReadOnlyDictionary<ushort, SiloAddress[]> GetCompatibleSilosWithVersions(PlacementTarget target) =>
        new Dictionary<ushort, SiloAddress[]> { [0] = GetCompatibleSilos(target) };
}

/// <summary>
/// A director of the runtime's own: it knows the silo at once, so that placing a grain needs no task and no copy of the silos. Any thread.
/// </summary>
internal abstract class OwnDirector : IPlacementDirector
{
    public Task<SiloAddress> OnAddActivation(PlacementStrategy strategy, PlacementTarget target, IPlacementContext context) =>
        Task.FromResult(Choose(target.GrainIdentity, context.GetCompatibleSilos(target), context.LocalSilo));

    /// <summary>One of <paramref name="silos"/>, which are at least one and belong to others too.</summary>
    internal abstract SiloAddress Choose(GrainId grain, SiloAddress[] silos, SiloAddress requester);
}
