using ActOp.Configuration;
using ActOp.Partitioning;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Foundation;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>
/// What a silo knows of the graph of grains: the heavy edges of its own grains, the numbers by which they name silos, and which grains may
/// move.
/// </summary>
/// <remarks>
/// Owns these parts, which belong to the turns of <see cref="LocalityService"/>; the remarks of <see cref="EdgeFold"/> say what other
/// threads may use.
/// </remarks>
internal sealed class KnownGraph : IDisposable
{
    private readonly EdgeCounters _edges;

    internal KnownGraph(
        LocalNode local, ClusterView cluster, ActivationTable activations, EdgeCounters edges, ClusterManifests manifests,
        LocationCache locations, LocalityMetrics metrics, LocalityOptions options)
    {
        _edges = edges;
        Metrics = metrics;
        Partitioning = options.ToPartitioning();
        Silos = new SiloNumbers(local.Address, cluster.IsUsable);
        Table = new HeavyEdgeTable<GrainId>(Partitioning.EdgeCapacity, Silos.NumberOf(local.Address));
        Traits = new GrainTraits(activations, options, manifests, Silos, type => local.Log.Unmovable(type));
        Fold = new EdgeFold(Table, edges, activations, locations, Silos, Traits, metrics, local.Time);
    }

    internal PartitioningOptions Partitioning { get; }

    internal SiloNumbers Silos { get; }

    internal HeavyEdgeTable<GrainId> Table { get; }

    internal GrainTraits Traits { get; }

    /// <summary>Turns the counted edges into <see cref="Table"/>.</summary>
    internal EdgeFold Fold { get; }

    internal LocalityMetrics Metrics { get; }

    /// <summary>Nothing is counted any more.</summary>
    public void Dispose() => _edges.End();

    /// <summary>The edges by the classes of their ends, the heaviest pairs first. One walk over the table.</summary>
    internal List<ClassEdge> Summarize(int most)
    {
        var pairs = new Dictionary<(GrainType One, GrainType Other), (double Local, double Remote)>();
        foreach (var (one, other, weight, isRemote) in Table.Edges())
        {
            var pair = one.Type.CompareTo(other.Type) <= 0 ? (one.Type, other.Type) : (other.Type, one.Type);
            var (local, remote) = pairs.GetValueOrDefault(pair);
            pairs[pair] = isRemote ? (local, remote + weight) : (local + weight, remote);
        }

        return [.. pairs.OrderByDescending(static pair => pair.Value.Local + pair.Value.Remote).Take(most).Select(static pair =>
            new ClassEdge(pair.Key.One.ToString(), pair.Key.Other.ToString(), pair.Value.Local, pair.Value.Remote))];
    }
}

/// <summary>The rates of messages between grains of two classes, in messages per second.</summary>
/// <param name="One">A class; the first one by name.</param>
/// <param name="Other">The other class, which may be the same.</param>
/// <param name="Local">Between grains that are both on this silo.</param>
/// <param name="Remote">Between a grain of this silo and one of another.</param>
internal sealed record ClassEdge(string One, string Other, double Local, double Remote);
