using ActOp.Runtime.Cluster;
using ActOp.Runtime.Hosting;
using ActOp.Runtime.Routing;
using ActOp.Runtime.Stages;
using Microsoft.Extensions.DependencyInjection;

namespace ActOp.Runtime.Health;

/// <summary>The parts of a node by which its health is judged. Owns none of them.</summary>
internal sealed record HealthParts(
    LocalNode Local, NodeStages Stages, LeaseGate Lease, ClusterView Cluster, PeerTable Peers, Func<ClusterService?> Membership)
{
    internal static HealthParts Of(IServiceProvider services)
    {
        var node = services.GetRequiredService<Node>();
        return new HealthParts(node.Local, node.Stages, node.Lease, node.ClusterView, node.Peers, () => node.Cluster);
    }
}
