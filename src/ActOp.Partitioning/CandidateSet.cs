namespace ActOp.Partitioning;

/// <summary>
/// Vertices that may move, with their edges, in flat arrays that are easy to put on a wire. The edges also travel with the vertices that
/// move, so that the new silo knows their traffic at once (<see cref="Adopt"/>).
/// </summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
public sealed class CandidateSet<TVertex>
    where TVertex : notnull, IEquatable<TVertex>
{
    /// <summary>No candidates.</summary>
    public static CandidateSet<TVertex> Empty { get; } = new([], [], [], [0], []);

    /// <summary>Puts together a set, for instance after it was decoded.</summary>
    /// <param name="vertices">The vertices, in the order of choice.</param>
    /// <param name="sizes">Their sizes.</param>
    /// <param name="epochs">Their counts of placements.</param>
    /// <param name="starts">Where the edges of vertex i begin; one longer than <paramref name="vertices"/>.</param>
    /// <param name="edges">All edges.</param>
    /// <exception cref="ArgumentException">The lengths do not fit together.</exception>
    public CandidateSet(TVertex[] vertices, double[] sizes, long[] epochs, int[] starts, HeavyEdge<TVertex>[] edges)
    {
        if (sizes.Length != vertices.Length || epochs.Length != vertices.Length
            || starts.Length != vertices.Length + 1 || starts[^1] != edges.Length)
        {
            throw new ArgumentException("Candidates need one size, one epoch and one range of edges each.");
        }

        for (var i = 0; i < vertices.Length; i++)
        {
            if (starts[i] < 0 || starts[i] > starts[i + 1])
                throw new ArgumentException("The ranges of edges must ascend.");
        }

        Vertices = vertices;
        Sizes = sizes;
        Epochs = epochs;
        Starts = starts;
        Edges = edges;
    }

    /// <summary>The vertices, in the order of choice.</summary>
    public TVertex[] Vertices { get; }

    /// <summary>The size of each vertex.</summary>
    public double[] Sizes { get; }

    /// <summary>The count of placements of each vertex.</summary>
    public long[] Epochs { get; }

    /// <summary>Where the edges of each vertex begin, and their end.</summary>
    public int[] Starts { get; }

    /// <summary>The edges of all vertices.</summary>
    public HeavyEdge<TVertex>[] Edges { get; }

    /// <summary>The number of vertices.</summary>
    public int Count => Vertices.Length;

    /// <summary>The edges of one vertex.</summary>
    /// <param name="index">Its index in <see cref="Vertices"/>.</param>
    /// <returns>Its edges.</returns>
    public ReadOnlySpan<HeavyEdge<TVertex>> EdgesOf(int index) => Edges.AsSpan(Starts[index], Starts[index + 1] - Starts[index]);

    /// <summary>The edges to a silo that is gone lead to an unknown location from now on.</summary>
    internal void ForgetSilo(int silo)
    {
        for (var i = 0; i < Edges.Length; i++)
        {
            if (Edges[i].Silo == silo)
                Edges[i] = Edges[i] with { Silo = Partitioning.SiloNumber.Unknown };
        }
    }

    /// <summary>
    /// Adds the edges of a vertex that has just arrived to the table of its silo. Its location in the table becomes
    /// <paramref name="table"/>'s silo at its epoch + 1.
    /// </summary>
    /// <param name="index">The vertex.</param>
    /// <param name="table">The table of the silo where it now is.</param>
    /// <param name="departed">Vertices that left this silo meanwhile, with their new locations; the set may still have them here.</param>
    public void Adopt(int index, HeavyEdgeTable<TVertex> table, IReadOnlyDictionary<TVertex, (int Silo, long Epoch)>? departed = null)
    {
        var vertex = Vertices[index];
        var epoch = Epochs[index] + 1;
        table.Locate(vertex, table.Self, epoch);
        foreach (var edge in EdgesOf(index))
        {
            // The table's own measurement is newer than the edges of the set.
            if (table.TryGetEdge(vertex, edge.Other, out _))
                continue;
            var location = (edge.Silo, edge.Epoch);
            if (departed is not null && departed.TryGetValue(edge.Other, out var left))
                location = left.Epoch > location.Epoch ? left : location;
            else if (location.Silo == table.Self && !table.TryLocate(edge.Other, out _, out _))
                location = (Partitioning.SiloNumber.Unknown, edge.Epoch);
            table.Add(vertex, epoch, edge.Other, location.Silo, location.Epoch, edge.Certain);
        }
    }
}
