using ActOp.Configuration;
using ActOp.Mesh;
using ActOp.Mesh.Transports;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using ActOp.Staging;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.Runtime.Hosting;

/// <summary>
/// What a node otherwise takes from the machine: threads, the time of its start, random ids. Registered in the container of a node that
/// must run the same way every time.
/// </summary>
/// <param name="Driver">Runs the stages.</param>
/// <param name="Generation">Positive; the generation of the node's address, which no other node at the same endpoint has had.</param>
/// <param name="NewId">Makes ids that are unique in the cluster.</param>
internal sealed record NodeSeams(StageDriver Driver, int Generation, Func<Guid> NewId);

/// <summary>All that a <see cref="Node"/> is made from, checked.</summary>
internal sealed record NodeSetup
{
    internal required SiloAddress Address { get; init; }

    internal required string Name { get; init; }

    internal required IServiceProvider Services { get; init; }

    internal required TimeProvider Time { get; init; }

    internal required ILoggerFactory Loggers { get; init; }

    internal required MessagingOptions Messaging { get; init; }

    internal required GrainCollectionOptions Collection { get; init; }

    internal required SchedulingOptions Scheduling { get; init; }

    internal required StageOptions Stages { get; init; }

    internal required MeshOptions Mesh { get; init; }

    internal required Transport Transport { get; init; }

    internal required PlacementStrategy DefaultPlacement { get; init; }

    internal required LocalityOptions Locality { get; init; }

    internal MembershipOptions Membership { get; init; } = new();

    internal DirectoryLimits Directory { get; init; } = new();

    /// <summary>Makes the membership table of a silo.</summary>
    internal Func<Node, IClusterTable>? Table { get; init; }

    /// <summary>Where a silo listens.</summary>
    internal System.Net.EndPoint[] Listens { get; init; } = [];

    /// <summary>Where clients reach this silo.</summary>
    internal System.Net.IPEndPoint? Gateway { get; init; }

    /// <summary>Where a client begins.</summary>
    internal System.Net.EndPoint[] Gateways { get; init; } = [];

    internal int LocationCacheSize { get; init; } = 1_000_000;

    internal int Seed { get; init; }

    /// <summary>Runs the stages in place of threads; null for threads.</summary>
    internal StageDriver? Driver { get; init; }

    /// <summary>Makes the ids of activations and observers, which must differ in the whole cluster.</summary>
    internal Func<Guid> NewId { get; init; } = Guid.NewGuid;
}
