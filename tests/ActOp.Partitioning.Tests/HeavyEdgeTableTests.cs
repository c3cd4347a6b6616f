namespace ActOp.Partitioning.Tests;

public class HeavyEdgeTableTests
{
    [Fact]
    public void Weights_overestimate_by_at_most_their_error_and_heavy_hitters_are_never_missing() => Seeds.ForEach(200, random =>
    {
        var capacity = random.Next(1, 30);
        HeavyEdgeTable<int> table = new(capacity, 0);
        Dictionary<(int, int), double> truth = [];
        var decays = random.Next(2) == 0;
        for (var i = 0; i < 600; i++)
        {
            int a = random.Next(6), b = 10 + Math.Min(random.Next(40), random.Next(40));
            double weight = random.Next(1, 5);
            table.Add(a, 0, b, 1, 0, weight);
            truth[(a, b)] = truth.GetValueOrDefault((a, b)) + weight;
            if (decays && random.Next(20) == 0)
            {
                table.Decay(0.5);
                foreach (var key in truth.Keys)
                    truth[key] *= 0.5;
            }
        }

        var total = truth.Values.Sum();
        Assert.True(table.Count <= capacity);
        Assert.True(table.Floor <= total / capacity + 1e-9);
        foreach (((var a, var b), var weight) in truth)
        {
            var tracked = table.TryGetEdge(a, b, out var edge);
            Assert.True(tracked || weight <= total / capacity + 1e-9, "A heavy edge is missing.");
            Assert.True(tracked || weight <= table.Floor + 1e-9, "An untracked edge is heavier than the floor.");
            if (!tracked)
                continue;
            Assert.InRange(weight, edge.Certain - 1e-9, edge.Weight + 1e-9);
            Assert.True(edge.Error <= table.Floor + 1e-9);
        }
    });

    [Fact]
    public void Random_use_agrees_with_a_plain_dictionary() => Seeds.ForEach(200, random =>
    {
        HeavyEdgeTable<int> table = new(1000, 0);
        Dictionary<(int, int), double> edges = [];
        Dictionary<int, (int Silo, long Epoch)> places = [];
        for (var i = 0; i < 400; i++)
        {
            int a = random.Next(12), b = random.Next(12);
            switch (random.Next(6))
            {
                case 0:
                    (var silo, var epoch) = (random.Next(3), random.Next(5));
                    table.Locate(a, silo, epoch);
                    ModelLocate(a, silo, epoch);
                    break;
                case 1 when random.Next(4) == 0:
                    table.Forget(a);
                    foreach (var key in edges.Keys.Where(k => k.Item1 == a || k.Item2 == a).ToArray())
                        edges.Remove(key);
                    break;
                default:
                    ModelAdd(a, b, random.Next(5), random.Next(3), random.Next(5), random.Next(1, 4));
                    break;
            }

            Collect();
        }

        Assert.Equal(edges.Count, table.Count);
        Assert.Equal(places.Count, table.VertexCount);
        foreach (((var a, var b), var weight) in edges)
        {
            Assert.True(table.TryGetEdge(a, b, out var edge));
            Assert.Equal(weight, edge.Weight, 9);
            Assert.Equal(places[b], (edge.Silo, edge.Epoch));
        }

        void ModelAdd(int local, int other, long epoch, int silo, long otherEpoch, double weight)
        {
            table.Add(local, epoch, other, silo, otherEpoch, weight);
            if (local == other)
                return;
            // Step by step: what the first fact makes the table drop is forgotten before the second.
            ModelLocate(local, 0, epoch);
            Collect();
            ModelLocate(other, silo, otherEpoch);
            Collect();
            Learn(local, 0, epoch);
            Learn(other, silo, otherEpoch);
            var key = (Math.Min(local, other), Math.Max(local, other));
            edges[key] = edges.GetValueOrDefault(key) + weight;
        }

        void ModelLocate(int vertex, int silo, long epoch)
        {
            if (places.ContainsKey(vertex))
                Learn(vertex, silo, epoch);
        }

        void Learn(int vertex, int silo, long epoch)
        {
            if (!places.TryGetValue(vertex, out var known) || epoch >= known.Epoch)
                places[vertex] = (silo, epoch);
        }

        void Collect()
        {
            foreach (var key in edges.Keys.Where(k => places[k.Item1].Silo != 0 && places[k.Item2].Silo != 0).ToArray())
                edges.Remove(key);
            foreach (var vertex in places.Keys.Where(v => !edges.Keys.Any(k => k.Item1 == v || k.Item2 == v)).ToArray())
                places.Remove(vertex);
        }
    });

    [Fact]
    public void The_latest_place_of_a_vertex_holds_for_all_its_edges()
    {
        HeavyEdgeTable<string> table = new(10, 0);
        table.Add("a", 0, "x", 1, 3, 1);
        table.Add("b", 0, "x", 1, 3, 1);
        Assert.False(table.Locate("x", 5, 2));
        Assert.True(table.Locate("x", 2, 4));
        table.TryGetEdge("a", "x", out var a);
        table.TryGetEdge("b", "x", out var b);
        Assert.Equal((2, 4L, 2, 4L), (a.Silo, a.Epoch, b.Silo, b.Epoch));
    }

    [Fact]
    public void Edges_without_an_end_on_this_silo_are_dropped()
    {
        HeavyEdgeTable<string> table = new(10, 0);
        table.Add("a", 0, "b", 0, 0, 1);
        table.Add("a", 0, "x", 1, 0, 1);
        table.Locate("a", 1, 1);
        Assert.True(table.TryGetEdge("b", "a", out _));
        Assert.False(table.TryGetEdge("a", "x", out _));
    }

    [Fact]
    public void Constant_traffic_converges_to_its_rate_whether_local_or_remote()
    {
        HeavyEdgeTable<string> table = new(10, 0);
        for (var fold = 0; fold < 200; fold++)
        {
            table.BeginFold(TimeSpan.FromSeconds(2), TimeSpan.FromSeconds(10));
            table.Sample("a", 0, "b", 0, 0, 14);
            table.Sample("b", 0, "a", 0, 0, 14);
            table.Sample("a", 0, "x", 1, 0, 6);
        }

        table.TryGetEdge("a", "b", out var local);
        table.TryGetEdge("a", "x", out var remote);
        Assert.Equal(7, local.Weight, 3);
        Assert.Equal(3, remote.Weight, 3);
    }

    [Fact]
    public void Weights_survive_decay_over_thousands_of_half_lives()
    {
        HeavyEdgeTable<int> table = new(4, 0);
        for (var i = 0; i < 5000; i++)
        {
            table.Decay(0.5);
            table.Add(1, 0, 2, 1, 0, 1);
        }

        table.TryGetEdge(1, 2, out var edge);
        Assert.Equal(2, edge.Weight, 9);
    }
}
