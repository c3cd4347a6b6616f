using ActOp.Configuration;
using ActOp.Mesh;
using ActOp.Mesh.Transports;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.Runtime.Hosting;

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
}
