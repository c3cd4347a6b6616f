using ActOp.Harness.Load;
using Heartbeat.Bench.Load;
using Heartbeat.Bench.Runs;
using Heartbeat.Bench.Silos;

namespace Heartbeat.Tests;

/// <summary>Cells that have run, made up: 1,000 requests/s of 1 ms each, a silo that is busy 0.4 of the time.</summary>
internal static class Cells
{
    public const double Rate = 1000;

    public static CellRun Run(params string[] segments)
    {
        var timeline = new CellTimeline();
        var length = 10.0 * segments.Length;
        for (double t = 0; t <= length + 2; t += 0.25)
            timeline.Add(0, Sample(t, t > 11 ? 3 : 2));
        BeatReport report = new()
        {
            T = length,
            Segment = segments[^1],
            IsDone = true,
            MaxLagMs = 0.5,
            Segments = [.. segments.Select((name, i) => Segment(name, 10.0 * i))],
        };
        timeline.Add(report);
        return new CellRun(timeline, report, null);
    }

    public static SiloSample Sample(double t, int workers) => new()
    {
        T = t,
        CpuSeconds = 0.4 * t,
        Stages =
        [
            Stage(t, 2), Stage(t, workers), new StageReading(1, 0, 0, 0, 0, 0, 0, 0), Stage(t, 1),
        ],
    };

    private static StageReading Stage(double t, int threads) =>
        new(threads, 0, (long)(Rate * t), threads == 3 ? 1 : 0, 0.1 * t, 0.06 * t, 0.02 * t, 0.05 * t);

    private static SegmentReport Segment(string name, double from)
    {
        var latency = new LatencyHistogram();
        for (var i = 0; i < 10 * Rate; i++)
            latency.Record(TimeSpan.FromMicroseconds(1000));
        return new SegmentReport
        {
            Name = name,
            From = from,
            Seconds = 10,
            Rate = Rate,
            CpuSeconds = 2,
            Requests = (long)(10 * Rate),
            Errors = 0,
            ErrorTexts = [],
            MeanMs = 1,
            LatencyMs = latency.Summarize(),
            Histogram = latency.ToPairs(),
        };
    }
}
