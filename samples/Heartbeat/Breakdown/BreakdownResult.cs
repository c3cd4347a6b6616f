using Heartbeat.Children;
using Heartbeat.Load;
using Heartbeat.Options;
using Heartbeat.Runs;

namespace Heartbeat.Breakdown;

/// <summary>Where the time of a mean request goes, as written to JSON.</summary>
public sealed record BreakdownResult
{
    /// <summary>Who gave the stages their threads.</summary>
    public required Allocation Allocation { get; init; }

    /// <summary>Requests per second asked for.</summary>
    public required double Rate { get; init; }

    /// <summary>Requests answered.</summary>
    public required long Requests { get; init; }

    /// <summary>Requests that failed.</summary>
    public required long Errors { get; init; }

    /// <summary>Mean latency in ms; the parts add up to it unless the silo's own sum is greater.</summary>
    public required double MeanMs { get; init; }

    /// <summary>Processor use of the silo; 100 is one core.</summary>
    public required double CpuPercent { get; init; }

    /// <summary>Threads at the end.</summary>
    public required ThreadNumbers Threads { get; init; }

    /// <summary>The parts, in the order in which a request meets them.</summary>
    public required Part[] Parts { get; init; }

    /// <summary>
    /// Reads the parts off a run; the runtime estimates its times from samples, and no part is below 0. <paramref name="networkMs"/> is a
    /// round trip without a silo.
    /// </summary>
    public static BreakdownResult Of(Allocation allocation, CellRun run, double networkMs)
    {
        SegmentReport measured = run.Segment(SegmentNames.Measure);
        double requests = Math.Max(1, measured.Requests);
        var parts = new List<Part>();
        foreach (int stage in (int[])[StageNames.Receive, StageNames.Work, StageNames.ClientSend])
        {
            double PerRequest(Func<StageReading, double> counter) =>
                1000 * run.Timeline.Growth(measured.From, measured.From + measured.Seconds, sample => counter(sample.Stages[stage])) / requests;
            parts.Add(new Part(StageNames.Tags[stage] + " queue", PerRequest(reading => reading.Wait)));
            parts.Add(new Part(StageNames.Tags[stage], Math.Max(0, PerRequest(reading => reading.Wall - reading.Ready))));
        }
        parts.Add(new Part("network", networkMs));
        parts.Add(new Part("other", Math.Max(0, measured.MeanMs - parts.Sum(part => part.Ms))));
        return new BreakdownResult
        {
            Allocation = allocation,
            Rate = measured.Rate,
            Requests = measured.Requests,
            Errors = measured.Errors,
            MeanMs = measured.MeanMs,
            CpuPercent = run.CpuPercent(measured),
            Threads = run.Threads(measured),
            Parts = [.. parts],
        };
    }
}
