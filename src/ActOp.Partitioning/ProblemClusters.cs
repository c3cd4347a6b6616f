namespace ActOp.Partitioning;

/// <summary>Joins the vertices of a problem to clusters and makes the smaller problem whose vertices the clusters are. O(edges).</summary>
/// <param name="problem">A sealed problem without costs (<see cref="ExchangeProblem.From"/>): a vertex is on its home's side.</param>
/// <param name="limit">The largest load of a cluster of more than one vertex.</param>
internal sealed class ProblemClusters(ExchangeProblem problem, double limit)
{
    private readonly int[] _cluster = new int[problem.Count];
    private readonly double[] _load = new double[problem.Count];
    private int _count;

    /// <summary>Joins each vertex, in random order, to the neighbour of its side to which its edge is heaviest for its load.</summary>
    /// <param name="random">Decides the order.</param>
    /// <param name="coarser">The problem of the clusters; any choice of sides is worth the same there as here.</param>
    /// <returns>The cluster of each vertex.</returns>
    public int[] Join(Random random, out ExchangeProblem coarser)
    {
        int[] order = new int[problem.Count];
        for (int i = 0; i < order.Length; i++)
            order[i] = i;
        random.Shuffle(order);
        _cluster.AsSpan().Fill(-1);
        foreach (int vertex in order)
        {
            if (_cluster[vertex] >= 0)
                continue;
            int neighbour = BestNeighbour(vertex);
            if (neighbour < 0)
                Open(vertex);
            else
                Follow(vertex, neighbour);
        }

        coarser = Contract();
        return _cluster;
    }

    // Heavy for their loads: else large clusters swallow all, and the rest stays single.
    private int BestNeighbour(int vertex)
    {
        int best = -1;
        double rating = 0;
        for (int i = problem.Starts[vertex]; i < problem.Starts[vertex + 1]; i++)
        {
            int other = problem.Others[i];
            if (problem.Home[other] != problem.Home[vertex])
                continue;
            double load = _cluster[other] < 0 ? problem.Load[other] : _load[_cluster[other]];
            if (load + problem.Load[vertex] > limit || problem.Weights[i] <= rating * load)
                continue;
            rating = problem.Weights[i] / load;
            best = other;
        }

        return best;
    }

    private void Open(int vertex)
    {
        _load[_count] = problem.Load[vertex];
        _cluster[vertex] = _count++;
    }

    private void Follow(int vertex, int neighbour)
    {
        if (_cluster[neighbour] < 0)
            Open(neighbour);
        _cluster[vertex] = _cluster[neighbour];
        _load[_cluster[vertex]] += problem.Load[vertex];
    }

    private ExchangeProblem Contract()
    {
        ExchangeProblem coarser = new() { Left = problem.Left, Right = problem.Right };
        coarser.Reset(_count);
        for (int vertex = 0; vertex < _cluster.Length; vertex++)
        {
            int cluster = _cluster[vertex];
            coarser.Home[cluster] = problem.Home[vertex];
            coarser.Size[cluster] += problem.Size[vertex];
            coarser.Load[cluster] += problem.Load[vertex];
            coarser.External[cluster] += problem.External[vertex];
        }

        AddPairs(coarser);
        coarser.Seal();
        return coarser;
    }

    // Cluster by cluster, with one sum for each cluster at the other end.
    private void AddPairs(ExchangeProblem coarser)
    {
        int[] members = new int[_cluster.Length];
        for (int vertex = 0; vertex < members.Length; vertex++)
            members[vertex] = vertex;
        Array.Sort(_cluster.AsSpan().ToArray(), members);
        double[] sums = new double[_count];
        List<int> touched = [];
        for (int at = 0; at < members.Length;)
        {
            int cluster = _cluster[members[at]];
            for (; at < members.Length && _cluster[members[at]] == cluster; at++)
                Sum(members[at], cluster, sums, touched);
            foreach (int other in touched)
            {
                coarser.AddPair(cluster, other, sums[other]);
                sums[other] = 0;
            }

            touched.Clear();
        }
    }

    private void Sum(int vertex, int cluster, double[] sums, List<int> touched)
    {
        for (int i = problem.Starts[vertex]; i < problem.Starts[vertex + 1]; i++)
        {
            int other = _cluster[problem.Others[i]];
            if (other <= cluster)
                continue;
            if (sums[other] == 0)
                touched.Add(other);
            sums[other] += problem.Weights[i];
        }
    }
}
