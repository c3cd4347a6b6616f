namespace ActOp.Lab.Tests;

public class GraphGeneratorTests
{
    [Theory]
    [InlineData("communities")]
    [InlineData("powerlaw")]
    public void The_same_seed_draws_the_same_graph_and_another_seed_another_one(string kind)
    {
        var graph = GraphGenerator.Draw(kind, 600, 7);
        Assert.Equal(600, graph.VertexCount);
        Assert.Equal(graph.Edges, GraphGenerator.Draw(kind, 600, 7).Edges);
        Assert.NotEqual(graph.Edges, GraphGenerator.Draw(kind, 600, 8).Edges);
        Assert.All(graph.Edges, edge => Assert.InRange(edge.B, edge.A + 1, graph.VertexCount - 1));
        Assert.All(graph.Edges, edge => Assert.Equal(1, edge.Weight));
    }

    [Theory]
    [InlineData("communities", 39)]
    [InlineData("powerlaw", 5)]
    [InlineData("grid", 100)]
    public void A_graph_that_cannot_be_drawn_is_refused(string kind, int vertices) =>
        Assert.Throws<LabException>(() => GraphGenerator.Draw(kind, vertices, 1));

    [Fact]
    public void Planted_communities_have_their_sizes_their_degree_and_their_share_of_edges_outside()
    {
        var community = GraphGenerator.PlantCommunities(5_000, 3);
        Assert.All(community.CountBy(c => c), c => Assert.InRange(c.Value, 40, 200));
        var graph = GraphGenerator.Communities(5_000, 3);
        Assert.InRange(2.0 * graph.Edges.Length / graph.VertexCount, 14, 16);
        var outside = graph.Edges.Count(e => community[e.A] != community[e.B]) / (double)graph.Edges.Length;
        Assert.InRange(outside, 0.18, 0.24);
    }

    [Fact]
    public void Degrees_of_a_power_law_fall_with_the_third_power_and_triads_make_triangles()
    {
        var graph = GraphGenerator.PowerLaw(20_000, 3);
        var degree = Degrees(graph);
        Assert.Equal((4 * (20_000 - 5)) + 10, graph.Edges.Length);
        Assert.Equal(4, degree.Min());
        // P(degree >= d) falls as d^-2: twice the degree, a quarter of the vertices.
        foreach (var d in (int[])[8, 16, 32])
            Assert.InRange((double)degree.Count(x => x >= 2 * d) / degree.Count(x => x >= d), 0.15, 0.35);
        Assert.True(degree.Max() > 50 * degree.Average() / 2);
        Assert.True(Triangles(graph) > 5 * Triangles(GraphGenerator.PowerLaw(20_000, 3, triads: 0)));
    }

    private static int[] Degrees(LabGraph graph)
    {
        var degree = new int[graph.VertexCount];
        foreach ((var a, var b, _) in graph.Edges)
        {
            degree[a]++;
            degree[b]++;
        }

        return degree;
    }

    private static int Triangles(LabGraph graph)
    {
        HashSet<int>[] after = [.. Enumerable.Range(0, graph.VertexCount).Select(static _ => new HashSet<int>())];
        foreach ((var a, var b, _) in graph.Edges)
            after[a].Add(b);
        return graph.Edges.Sum(edge => after[edge.A].Count(after[edge.B].Contains));
    }
}
