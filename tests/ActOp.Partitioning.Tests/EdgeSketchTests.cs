namespace ActOp.Partitioning.Tests;

public class EdgeSketchTests
{
    private const int Hub = -100;

    [Fact]
    public void Counts_stay_within_their_error_and_heavy_hitters_are_kept() => Seeds.ForEach(200, random =>
    {
        var capacity = random.Next(1, 20);
        EdgeSketch<int> sketch = new(capacity);
        Dictionary<int, long> truth = [];
        for (var i = 0; i < 500; i++)
        {
            var other = Math.Min(random.Next(50), random.Next(50));
            sketch.Add(other, 1, 10);
            truth[other] = truth.GetValueOrDefault(other) + 1;
        }

        Sink sink = new([]);
        sketch.Drain(ref sink);
        Assert.Equal(0, sketch.Count);
        foreach ((var other, var messages) in truth)
        {
            var kept = sink.Edges.TryGetValue(other, out var edge);
            Assert.True(kept || messages <= 500.0 / capacity);
            if (kept)
                Assert.InRange(messages, edge.Messages - edge.Error, edge.Messages);
        }
    });

    [Fact]
    public void What_is_folded_of_a_hub_never_exceeds_what_was_sent_and_heavy_partners_are_kept() => Seeds.ForEach(100, random =>
    {
        EdgeSketch<int> sketch = new();
        Dictionary<int, long> truth = [];
        int partners = random.Next(1, 2000), heavy = random.Next(4);
        const int Messages = 4000;
        for (var i = 0; i < Messages; i++)
        {
            // Up to three partners that have an eighth of the traffic each, among equal ones.
            var draw = random.Next(8);
            var other = draw < heavy ? -1 - draw : random.Next(partners);
            sketch.Add(other, 1, 0);
            truth[other] = truth.GetValueOrDefault(other) + 1;
        }

        var table = Fold(sketch);
        foreach ((var other, var messages) in truth)
        {
            var kept = table.TryGetEdge(Hub, other, out var edge);
            var least = messages - ((double)Messages / sketch.Capacity);
            Assert.True(kept || least <= 0);
            if (kept)
                Assert.InRange(edge.Certain, least - 1e-6, messages + 1e-6);
        }
    });

    [Fact]
    public void A_hub_of_a_thousand_equal_partners_reports_no_heavy_edge() => Seeds.ForEach(20, random =>
    {
        EdgeSketch<int> sketch = new();
        int[] partners = [.. Enumerable.Range(1, 1000)];
        for (var round = 0; round < 10; round++)
        {
            random.Shuffle(partners);
            foreach (var other in partners)
                sketch.Add(other, 1, 0);
        }

        var table = Fold(sketch);
        foreach (var other in partners)
        {
            if (table.TryGetEdge(Hub, other, out var edge))
                Assert.InRange(edge.Weight, 0, 10.000001);
        }
    });

    [Fact]
    public void A_full_sketch_refuses_what_would_cost_another_edge_its_counter() => Seeds.ForEach(50, random =>
    {
        EdgeSketch<int> sketch = new(random.Next(1, 20));
        Dictionary<int, long> truth = [];
        for (var i = 0; i < 200; i++)
        {
            var other = random.Next(30);
            var known = truth.ContainsKey(other);
            Assert.Equal(known || truth.Count < sketch.Capacity, sketch.TryAdd(other, 3, 1));
            if (known || truth.Count < sketch.Capacity)
                truth[other] = truth.GetValueOrDefault(other) + 3;
        }

        Sink sink = new([]);
        sketch.Drain(ref sink);
        Assert.Equal(truth.ToDictionary(pair => pair.Key, pair => (pair.Value, 0L)), sink.Edges);
    });

    [Fact]
    public void Counting_allocates_nothing()
    {
        EdgeSketch<int> sketch = new(16);
        Count(sketch);
        var before = GC.GetAllocatedBytesForCurrentThread();
        Count(sketch);
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);

        static void Count(EdgeSketch<int> sketch)
        {
            for (var i = 0; i < 1000; i++)
                sketch.Add(i % 40, 1, 100);
        }
    }

    // One fold of one second that decays nothing: a weight is the number of messages.
    private static HeavyEdgeTable<int> Fold(EdgeSketch<int> sketch)
    {
        HeavyEdgeTable<int> table = new(5000, 0);
        Sink sink = new([]);
        sketch.Drain(ref sink);
        foreach ((var other, (var messages, var error)) in sink.Edges)
            table.Sample(Hub, 0, other, 1, 0, messages, error);
        return table;
    }

    private readonly struct Sink(Dictionary<int, (long Messages, long Error)> edges) : IEdgeSink<int>
    {
        public Dictionary<int, (long Messages, long Error)> Edges => edges;

        public void Receive(int other, long messages, long error, long bytes) => edges.Add(other, (messages, error));
    }
}
