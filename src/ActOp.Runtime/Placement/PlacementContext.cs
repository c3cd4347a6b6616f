using ActOp.Runtime.Hosting;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace ActOp.Runtime.Placement;

/// <summary>What a placement director may know.</summary>
internal sealed class PlacementContext(Node node, SiloAddress requester) : IPlacementContext
{
    public SiloAddress LocalSilo => requester;

    public SiloStatus LocalSiloStatus => node.Silos.View.StatusOf(requester);

    public SiloAddress[] GetCompatibleSilos(PlacementTarget target) => node.Silos.Placeable;

    public IReadOnlyDictionary<ushort, SiloAddress[]> GetCompatibleSilosWithVersions(PlacementTarget target) =>
        new Dictionary<ushort, SiloAddress[]> { [0] = GetCompatibleSilos(target) };
}
