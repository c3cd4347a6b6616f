namespace ActOp.Partitioning;

/// <summary>
/// Lets groups of candidates that are tied to each other change sides together. In each cycle the candidates of one side are joined to
/// clusters along their heaviest edges, the clusters to larger ones and so on; then the sides are chosen from the coarsest level to single
/// vertices, each level from where the coarser one ended (iterated multilevel refinement, Walshaw 2004). Clusters never cross sides, so
/// each cycle begins with the result of the one before and can only improve it. All of it is local to the silo that decides.
/// </summary>
/// <param name="options">The limits.</param>
internal sealed class MultilevelSelection(PartitioningOptions options)
{
    // Below this a level is small enough to be searched as it is.
    private const int CoarsestCount = 8;

    // A level that is hardly smaller than the one before adds nothing: what is left has no neighbour on its side that it could join.
    private const double LeastShrinkage = 0.95;

    // Clusters clump differently in each cycle; two in a row without gain end the search.
    private const int CyclesWithoutGain = 2;

    // A cluster holds at most this share of all candidates' load, so that there is something to choose from on the coarsest level.
    private const double LargestCluster = 0.1;

    private readonly ExchangeSelection _exchange = new(options);
    private int[] _sides = [];

    /// <summary>The side of each candidate in the result.</summary>
    public ReadOnlySpan<int> Sides => _sides;

    /// <summary>Decides the sides. The same problem always gets the same result.</summary>
    /// <param name="problem">A sealed problem.</param>
    /// <returns>By how much the cut falls, less the cost of the moves.</returns>
    public double Run(ExchangeProblem problem)
    {
        double total = _exchange.Run(problem);
        _sides = _exchange.Sides.ToArray();
        if (options.Algorithm != SelectionAlgorithm.LookAhead || problem.Edges == 0)
            return total;
        Random random = new(problem.Count);
        double limit = LargestCluster * problem.Load.Sum();
        for (int cycle = 0, idle = 0; cycle < options.ClusterCycles && idle < CyclesWithoutGain; cycle++)
        {
            double gain = Cycle(problem.From(_sides), random, limit);
            total += gain;
            idle = gain > ExchangeSelection.Epsilon ? 0 : idle + 1;
        }

        return total;
    }

    private double Cycle(ExchangeProblem finest, Random random, double limit)
    {
        List<(ExchangeProblem Problem, int[] Clusters)> finer = [];
        ExchangeProblem level = finest;
        while (level.Count > CoarsestCount)
        {
            int[] clusters = new ProblemClusters(level, limit).Join(random, out ExchangeProblem coarser);
            if (coarser.Count > LeastShrinkage * level.Count)
                break;
            finer.Add((level, clusters));
            level = coarser;
        }

        double gain = _exchange.Run(level, overshoot: true);
        for (int i = finer.Count - 1; i >= 0; i--)
        {
            (level, int[] clusters) = finer[i];
            int[] sides = new int[level.Count];
            for (int vertex = 0; vertex < sides.Length; vertex++)
                sides[vertex] = _exchange.Sides[clusters[vertex]];
            gain += _exchange.Run(level.From(sides), overshoot: true);
        }

        _sides = _exchange.Sides.ToArray();
        return gain;
    }
}
