namespace ActOp.Partitioning.Tests;

/// <summary>
/// A random weighted graph on a few silos, every silo with a table that holds all its edges, and the true cut for comparison.
/// </summary>
internal sealed class Playground
{
    private readonly List<(int A, int B, double Weight)> _edges = [];
    private readonly PartitioningOptions _options;
    private TimeSpan _now;

    public Playground(Random random, PartitioningOptions options, int vertices, int silos, double density)
    {
        _options = options;
        Place = [.. Enumerable.Range(0, vertices).Select(i => i % silos)];
        random.Shuffle(Place);
        Tables = [.. Enumerable.Range(0, silos).Select(s => new HeavyEdgeTable<int>(100_000, s))];
        Protocols = [.. Tables.Select(t => new ExchangeProtocol<int>(t, UniformTraits<int>.Instance, options, (ulong)t.Self, 1))];
        for (var a = 0; a < vertices; a++)
        {
            for (var b = a + 1; b < vertices; b++)
            {
                if (random.NextDouble() < density)
                    Add(a, b, random.Next(1, 9));
            }
        }
    }

    public int[] Place { get; }

    public HeavyEdgeTable<int>[] Tables { get; }

    public ExchangeProtocol<int>[] Protocols { get; }

    public double Cut => _edges.Where(e => Place[e.A] != Place[e.B]).Sum(static e => e.Weight);

    public int CountOf(int silo) => Place.Count(p => p == silo);

    public SiloLoad Load(int silo) => SiloLoad.Around(CountOf(silo), (double)Place.Length / Tables.Length, _options.Tolerance);

    public double TrueScore(int vertex, int from, int to) =>
        _edges.Where(e => e.A == vertex || e.B == vertex)
            .Select(e => (Other: e.A == vertex ? e.B : e.A, e.Weight))
            .Sum(e => Place[e.Other] == to ? e.Weight : Place[e.Other] == from ? -e.Weight : 0);

    /// <summary>One round of one silo with its partners; null if nothing was agreed.</summary>
    public ExchangePlan<int>? Exchange(int silo)
    {
        _now += TimeSpan.FromSeconds(10);
        var step = Protocols[silo].BeginRound(_now, Load(silo));
        while (step.Offer is { } offer)
        {
            var answer = Protocols[offer.To].Receive(offer, _now, Load(offer.To));
            step = Protocols[silo].Receive(answer.Reply!, _now, Load(silo));
            if (step.Moves is not { } moves)
                continue;
            foreach (var vertex in moves)
                Move(vertex, silo, offer.To);
            foreach (var vertex in answer.Moves!)
                Move(vertex, offer.To, silo);
            return answer.Reply!.Plan;
        }

        return null;
    }

    private void Move(int vertex, int from, int to)
    {
        Assert.Equal(from, Place[vertex]);
        Tables[from].TryLocate(vertex, out _, out var epoch);
        Assert.True(Protocols[from].Departed(vertex, out var report, out var partner));
        Assert.Equal(to, partner);
        Protocols[to].Receive(report);
        Assert.True(Protocols[to].Arrived(vertex));
        Place[vertex] = to;
        foreach (var table in Tables)
            table.Locate(vertex, to, epoch + 1);
    }

    private void Add(int a, int b, double weight)
    {
        _edges.Add((a, b, weight));
        Tables[Place[a]].Add(a, 0, b, Place[b], 0, weight);
        if (Place[a] != Place[b])
            Tables[Place[b]].Add(b, 0, a, Place[a], 0, weight);
    }
}
