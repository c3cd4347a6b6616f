namespace ActOp.Partitioning.Tests;

public class EdgeSketchTests
{
    [Fact]
    public void Counts_stay_within_their_error_and_heavy_hitters_are_kept() => Seeds.ForEach(200, random =>
    {
        int capacity = random.Next(1, 20);
        EdgeSketch<int> sketch = new(capacity);
        Dictionary<int, long> truth = [];
        for (int i = 0; i < 500; i++)
        {
            int other = Math.Min(random.Next(50), random.Next(50));
            sketch.Add(other, 1, 10);
            truth[other] = truth.GetValueOrDefault(other) + 1;
        }

        Sink sink = new([]);
        sketch.Drain(ref sink);
        Assert.Equal(0, sketch.Count);
        foreach ((int other, long messages) in truth)
        {
            bool kept = sink.Edges.TryGetValue(other, out var edge);
            Assert.True(kept || messages <= 500.0 / capacity);
            if (kept)
                Assert.InRange(messages, edge.Messages - edge.Error, edge.Messages);
        }
    });

    [Fact]
    public void Counting_allocates_nothing()
    {
        EdgeSketch<int> sketch = new(16);
        Count(sketch);
        long before = GC.GetAllocatedBytesForCurrentThread();
        Count(sketch);
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);

        static void Count(EdgeSketch<int> sketch)
        {
            for (int i = 0; i < 1000; i++)
                sketch.Add(i % 40, 1, 100);
        }
    }

    private readonly struct Sink(Dictionary<int, (long Messages, long Error)> edges) : IEdgeSink<int>
    {
        public Dictionary<int, (long Messages, long Error)> Edges => edges;

        public void Receive(int other, long messages, long error, long bytes) => edges.Add(other, (messages, error));
    }
}
