using System.Diagnostics.Metrics;
using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Partitioning;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Placement;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>
/// Locality partitioning as the path sees it: activations give it the edges that they have counted, and it moves them. A system target of
/// each silo, on the locality stage; a client has one that is never started.
/// </summary>
/// <remarks>The node starts it, tells it of views, and disposes of it before it closes its network. Nothing here waits or throws.</remarks>
internal interface ILocality : IDisposable
{
    /// <summary>The name of the system target.</summary>
    string TargetName { get; }

    /// <summary>The activation on whose turns it runs; set before the start.</summary>
    Activation Host { get; set; }

    /// <summary>What the silos use, as far as this silo knows; renewed about once a second. Any thread.</summary>
    SiloUses Uses { get; }

    /// <summary>Whether counts that were handed over wait for too long. Any thread.</summary>
    bool IsFoldBehind { get; }

    void Start();

    /// <summary>The view has changed: removes the silos that are gone and starts the next round soon.</summary>
    void OnView();

    /// <summary>An empty sketch for an activation that begins to count. Any thread.</summary>
    EdgeSketch<GrainId> RentSketch();

    /// <summary>Takes over what an activation has counted. Any thread; the sketch belongs to locality from now on.</summary>
    void Fold(GrainId grain, long epoch, EdgeSketch<GrainId> edges);

    /// <summary>Whether locality may move the activation now. Outside of its turn the result may be outdated.</summary>
    bool MayMove(Activation activation);

    /// <summary>A grain was activated here; in opportunistic mode it may have moved here. Any thread.</summary>
    void Began(GrainId grain);

    /// <summary>A grain has arrived from another silo. Any thread.</summary>
    void Arrived(GrainId grain);

    /// <summary>A grain has ended here, or has left. Any thread.</summary>
    void Forget(GrainId grain);

    /// <summary>
    /// The rates of messages between classes of grains, the heaviest first; none while locality is off. Any thread; computed on the turn of
    /// the target, by one walk over the table.
    /// </summary>
    /// <param name="most">How many pairs of classes.</param>
    Task<List<ClassEdge>> SummarizeAsync(int most);
}

/// <summary>Makes the locality of a node. One is registered in the container of each silo and client.</summary>
internal sealed record LocalityFactory(Func<LocalityNeeds, ILocality> Make);

/// <summary>What locality uses of its node.</summary>
internal sealed record LocalityNeeds(
    LocalNode Local, ClusterView ClusterView, ClusterManifests Manifests, ActivationTable Activations, EdgeCounters Edges,
    LocationCache Locations, GrainFactory Factory, LocalityOptions Options)
{
    internal required PlacementHints Hints { get; init; }

    internal required Meter Meter { get; init; }
}

/// <summary>The rates of messages between grains of two classes, in messages per second.</summary>
/// <param name="One">A class; the first one by name.</param>
/// <param name="Other">The other class, which may be the same.</param>
/// <param name="Local">Between grains that are both on this silo.</param>
/// <param name="Remote">Between a grain of this silo and one of another.</param>
internal sealed record ClassEdge(string One, string Other, double Local, double Remote);
