using System.Net;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Routing;
using Orleans.Runtime;

namespace ActOp.Management.Operations;

/// <summary>The door of the cluster for operators, as a client or silo sees it.</summary>
/// <remarks>Any thread; holds nothing.</remarks>
internal sealed class OperatorClient(ClusterView cluster, PeerTable peers, GrainFactory factory)
{
    /// <summary>The number of the view that was read last; a client reads it each second.</summary>
    internal long View => cluster.View.Number;

    /// <summary>The members of that view, dead ones included.</summary>
    internal IReadOnlyList<ListedMember> Members =>
    [
        .. cluster.View.Members.Select(static member => new ListedMember(
            member.Silo, member.Name, member.Status, member.Gateway, member.Status == SiloStatus.Dead ? member.Cause.ToString() : null)),
    ];

    /// <summary>The door of a silo that is connected.</summary>
    /// <exception cref="SiloUnavailableException">None is.</exception>
    internal IOperatorTarget Target => peers.FindConnected(cluster.Active, 0) is { } silo
        ? factory.GetSystemTarget<IOperatorTarget>(OperatorTarget.Name, silo)
        : throw new SiloUnavailableException("No silo is connected.");
}

/// <summary>A member of a view.</summary>
/// <param name="Silo">Its address.</param>
/// <param name="Name">Its name.</param>
/// <param name="Status">Its status.</param>
/// <param name="Gateway">Where clients connect; null if it takes none.</param>
/// <param name="Cause">Why it is dead; null if it is not.</param>
internal sealed record ListedMember(SiloAddress Silo, string Name, SiloStatus Status, IPEndPoint? Gateway, string? Cause);
