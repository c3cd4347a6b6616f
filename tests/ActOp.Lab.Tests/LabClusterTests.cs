using ActOp.Partitioning;

namespace ActOp.Lab.Tests;

public class LabClusterTests
{
    private const int Parts = 4;

    private static readonly PartitioningOptions Options = new() { PartnersPerRound = int.MaxValue };

    [Theory]
    [InlineData("communities")]
    [InlineData("powerlaw")]
    public void A_static_graph_comes_to_rest_with_no_round_that_raises_the_cut_or_breaks_the_balance_and_the_same_seed_ends_the_same(
        string kind)
    {
        var graph = GraphGenerator.Draw(kind, 1_000, 1);
        Assert.Equal(Play(graph, Options, seed: 1).Place, Play(graph, Options, seed: 1).Place);
    }

    [Fact]
    public void What_a_migration_does_not_carry_along_is_seen_again_before_it_misleads()
    {
        var graph = GraphGenerator.PowerLaw(1_000, 1, links: 8);
        for (var seed = 1; seed <= 3; seed++)
            Play(graph, Options with { EdgesPerCandidate = 1, CandidateCount = 60 }, seed, parts: 10);
    }

    [Fact]
    public void Groups_that_move_together_cut_a_power_law_with_clusters_less()
    {
        var graph = GraphGenerator.PowerLaw(2_000, 1);
        int[] seeds = [1, 2, 3];
        var together = seeds.Average(seed => Play(graph, Options, seed).Cut);
        var alone = seeds.Average(seed => Play(graph, Options with { ClusterCycles = 0 }, seed).Cut);
        Assert.True(together < 0.95 * alone, $"{together} is not far below {alone}.");
    }

    [Fact]
    public void Larger_offers_while_nothing_is_gained_cut_few_large_parts_less()
    {
        var graph = GraphGenerator.PowerLaw(2_000, 1);
        int[] seeds = [1, 2, 3];
        var few = Options with { CandidateCount = 60 };
        var growing = seeds.Average(seed => Play(graph, few, seed).Cut);
        var constant = seeds.Average(seed => Play(graph, few with { CandidateGrowth = 1 }, seed).Cut);
        Assert.True(growing < 0.95 * constant, $"{growing} is not far below {constant}.");
    }

    private static (double Cut, int[] Place) Play(LabGraph graph, PartitioningOptions options, int seed, int parts = Parts)
    {
        LabCluster cluster = new(graph.VertexCount, parts, options, seed);
        foreach ((var a, var b, var weight) in graph.Edges)
            cluster.Add(a, b, weight);
        var cut = graph.CutShare(cluster.Place);
        for (int round = 0, quiet = 0; quiet < 3 + int.Log2(options.CandidateGrowth); round++)
        {
            Assert.True(round < 200, "No end in sight.");
            quiet = cluster.PlayRound(() => cluster.See(graph)).Moves == 0 ? quiet + 1 : 0;
            var now = graph.CutShare(cluster.Place);
            Assert.True(now <= cut + 1e-9, "A round raised the cut.");
            Assert.True(cluster.MaxImbalance <= options.Tolerance + 1e-9, "A part is too large.");
            cut = now;
        }

        return (cut, cluster.Place.ToArray());
    }
}
