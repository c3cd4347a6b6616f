using ActOp.Partitioning;
using ActOp.Runtime.Activations;
using Orleans.Runtime;

namespace ActOp.Locality;

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

    internal KnownGraph(LocalityNeeds needs)
    {
        var local = needs.Local;
        _edges = needs.Edges;
        Metrics = new LocalityMetrics(needs.Meter);
        Partitioning = needs.Options.ToPartitioning();
        Silos = new SiloNumbers(local.Address, needs.ClusterView.IsUsable);
        Table = new HeavyEdgeTable<GrainId>(Partitioning.EdgeCapacity, Silos.NumberOf(local.Address));
        Traits = new GrainTraits(needs.Activations, needs.Options, needs.Manifests, Silos, type => local.Log.Unmovable(type));
        Fold = new EdgeFold(Table, _edges, needs.Activations, needs.Locations, Silos, Traits, Metrics, local.Time);
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
