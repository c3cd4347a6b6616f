using ActOp.Partitioning;
using BenchmarkDotNet.Attributes;

namespace ActOp.Bench.Micro;

/// <summary>
/// One exchange between two silos of ten thousand grains each, placed at random: candidates, offer, decision. Nothing moves.
/// </summary>
[MemoryDiagnoser]
[ShortRunJob]
public class ExchangeSuite
{
    private const int Vertices = 20_000;
    private const int Group = 9;
    private readonly PartitioningOptions _options = new();
    private HeavyEdgeTable<int>[] _tables = [];

    /// <summary>Fills the tables of both silos: groups of nine that talk to each other.</summary>
    [GlobalSetup]
    public void Setup()
    {
        _tables = [new HeavyEdgeTable<int>(100_000, 0), new HeavyEdgeTable<int>(100_000, 1)];
        var random = new Random(1);
        var silos = new int[Vertices];
        for (var vertex = 0; vertex < Vertices; vertex++)
            silos[vertex] = random.Next(2);
        for (var vertex = 0; vertex < Vertices; vertex++)
        {
            var hub = vertex - (vertex % Group);
            if (hub == vertex)
                continue;
            _tables[silos[vertex]].Add(vertex, 1, hub, silos[hub], 1, 1 + random.NextDouble());
            _tables[silos[hub]].Add(hub, 1, vertex, silos[vertex], 1, 1 + random.NextDouble());
        }
    }

    /// <summary>What one silo offers and the other decides.</summary>
    /// <returns>The moves agreed.</returns>
    [Benchmark]
    public int Exchange()
    {
        var load = SiloLoad.Around(Vertices / 2, Vertices / 2, 0.03);
        var offer = new CandidateSelection<int>(_tables[0], UniformTraits<int>.Instance, _options).Select(1);
        var own = new CandidateSelection<int>(_tables[1], UniformTraits<int>.Instance, _options);
        var decision = new ExchangeDecision<int>(_tables[1], own, _options);
        return decision.Decide(new ExchangeOffer<int>(new ExchangeId(1, 1, 1), 0, 1, load, offer), load)?.Moves ?? 0;
    }
}
