using System.Runtime.InteropServices;

namespace ActOp.Partitioning;

/// <summary>
/// The small graph of one exchange: the candidates of both silos, the weights of each to vertices outside, the edges among them. Side 0 is
/// the silo that offered (p), side 1 the one that decides (q).
/// </summary>
internal sealed class ExchangeProblem
{
    private readonly List<Pair> _pairs = [];

    public int Count { get; private set; }

    public int[] Home { get; private set; } = [];

    public double[] Size { get; private set; } = [];

    /// <summary>What the balance constraint counts.</summary>
    public double[] Load { get; private set; } = [];

    /// <summary>Weight to vertices of side 1 that do not take part, less that to those of side 0.</summary>
    public double[] External { get; private set; } = [];

    /// <summary>The cost of a move away from the home side.</summary>
    public double[] Cost { get; private set; } = [];

    public int[] Starts { get; private set; } = [];

    public int[] Others { get; private set; } = [];

    public double[] Weights { get; private set; } = [];

    /// <summary>The number of edges between candidates.</summary>
    public int Edges => Others.Length / 2;

    public SiloLoad Left { get; set; }

    public SiloLoad Right { get; set; }

    public void Reset(int count)
    {
        Count = count;
        Home = new int[count];
        Size = new double[count];
        Load = new double[count];
        External = new double[count];
        Cost = new double[count];
        _pairs.Clear();
    }

    /// <summary>Adds an edge between two candidates; of several reports of one edge the heaviest counts.</summary>
    public void AddPair(int a, int b, double weight)
    {
        Invariant.Holds((uint)a < (uint)Count && (uint)b < (uint)Count);
        if (a != b && weight > 0)
            _pairs.Add(new Pair(Math.Min(a, b), Math.Max(a, b), weight));
    }

    /// <summary>Turns the pairs into adjacency arrays.</summary>
    public void Seal()
    {
        // By the first candidate, then by the second one: the later pass keeps the order of the earlier one.
        var pairs = SortedBy(SortedBy(CollectionsMarshal.AsSpan(_pairs), first: false), first: true);
        var unique = 0;
        Starts = new int[Count + 1];
        for (var i = 0; i < pairs.Length; i++)
        {
            var pair = pairs[i];
            if (unique > 0 && pairs[unique - 1].First == pair.First && pairs[unique - 1].Second == pair.Second)
            {
                pairs[unique - 1] = pair with { Weight = Math.Max(pair.Weight, pairs[unique - 1].Weight) };
                continue;
            }

            pairs[unique++] = pair;
            Starts[pair.First + 1]++;
            Starts[pair.Second + 1]++;
        }

        for (var i = 0; i < Count; i++)
            Starts[i + 1] += Starts[i];
        Others = new int[2 * unique];
        Weights = new double[2 * unique];
        Invariant.Holds(Starts[Count] == 2 * unique);
        var at = Starts.AsSpan(0, Count).ToArray();
        foreach (var pair in pairs.AsSpan(0, unique))
        {
            SetNeighbour(at[pair.First]++, pair.Second, pair.Weight);
            SetNeighbour(at[pair.Second]++, pair.First, pair.Weight);
        }
    }

    /// <summary>
    /// The pairs by one of their candidates; equal ones keep their order. A counting sort: comparisons are a sixth of all that an exchange
    /// computes.
    /// </summary>
    private Pair[] SortedBy(ReadOnlySpan<Pair> pairs, bool first)
    {
        var starts = new int[Count + 1];
        foreach (var pair in pairs)
            starts[(first ? pair.First : pair.Second) + 1]++;
        for (var i = 0; i < Count; i++)
            starts[i + 1] += starts[i];
        var sorted = new Pair[pairs.Length];
        foreach (var pair in pairs)
            sorted[starts[first ? pair.First : pair.Second]++] = pair;
        return sorted;
    }

    /// <summary>
    /// The same problem with other homes, and without costs: what a move away from the old home costs pulls towards it. Any choice of sides
    /// gains as much here as what it gains there beyond <paramref name="sides"/>.
    /// </summary>
    public ExchangeProblem From(ReadOnlySpan<int> sides)
    {
        double change = 0;
        var external = new double[Count];
        for (var i = 0; i < Count; i++)
        {
            external[i] = External[i] + (Home[i] == 0 ? -Cost[i] : Cost[i]);
            change += (sides[i] - Home[i]) * Load[i];
        }

        return new()
        {
            Count = Count,
            Home = sides.ToArray(),
            Size = Size,
            Load = Load,
            External = external,
            Cost = new double[Count],
            Starts = Starts,
            Others = Others,
            Weights = Weights,
            Left = Left with { Current = Left.Current - change },
            Right = Right with { Current = Right.Current + change },
        };
    }

    /// <summary>What moving a candidate from its side to the other one gains, computed from scratch.</summary>
    public double Score(int vertex, ReadOnlySpan<int> side)
    {
        var mine = side[vertex];
        var score = mine == 0 ? External[vertex] : -External[vertex];
        for (var i = Starts[vertex]; i < Starts[vertex + 1]; i++)
            score += side[Others[i]] == mine ? -Weights[i] : Weights[i];
        return score + (mine == Home[vertex] ? -Cost[vertex] : Cost[vertex]);
    }

    private void SetNeighbour(int index, int other, double weight)
    {
        Others[index] = other;
        Weights[index] = weight;
    }

    /// <summary>An edge between two candidates, of which the first has the lower number.</summary>
    private readonly record struct Pair(int First, int Second, double Weight);
}
