using Heartbeat.Children;
using Heartbeat.Load;
using Heartbeat.Options;
using Heartbeat.Runs;

namespace Heartbeat.Step;

/// <summary>How an allocation followed the load, as written to JSON.</summary>
public sealed record StepResult
{
    /// <summary>Who gave the stages their threads.</summary>
    public required Allocation Allocation { get; init; }

    /// <summary>The segments of the load.</summary>
    public required StepSegment[] Segments { get; init; }

    /// <summary>The threads, four times a second.</summary>
    public required StepPoint[] Timeline { get; init; }

    /// <summary>Reads it off a run.</summary>
    /// <exception cref="InvalidOperationException">The run failed.</exception>
    public static StepResult Of(Allocation allocation, CellRun run)
    {
        SegmentReport[] segments = run.Report?.Segments ?? throw new InvalidOperationException(run.Failure);
        SiloSample[] samples = run.Timeline.Samples(0);
        double begin = segments[0].From;
        double end = segments[^1].From + segments[^1].Seconds;
        return new StepResult
        {
            Allocation = allocation,
            Segments = [.. segments.Select(segment => Read(run, samples, segment, begin))],
            Timeline = [.. samples.Where(sample => sample.T >= begin && sample.T <= end).Select(sample => new StepPoint(
                sample.T - begin, segments.Last(segment => segment.From <= sample.T).Rate, CellTimeline.ThreadsOf(sample)))],
        };
    }

    /// <summary>The changes between samples in a stretch: how many, and seconds from its begin to the last.</summary>
    public static (int Count, double Last) Changes(IReadOnlyList<SiloSample> samples, double from, double to)
    {
        int count = 0;
        double last = 0;
        for (int i = 1; i < samples.Count; i++)
        {
            if (samples[i].T < from || samples[i].T > to || CellTimeline.ThreadsOf(samples[i]) == CellTimeline.ThreadsOf(samples[i - 1]))
                continue;
            count++;
            last = samples[i].T - from;
        }
        return (count, last);
    }

    private static StepSegment Read(CellRun run, SiloSample[] samples, SegmentReport segment, double begin)
    {
        (int changes, double last) = Changes(samples, segment.From, segment.From + segment.Seconds);
        return new StepSegment
        {
            Name = segment.Name,
            From = segment.From - begin,
            Seconds = segment.Seconds,
            Rate = segment.Rate,
            Requests = segment.Requests,
            Errors = segment.Errors,
            LatencyMs = segment.LatencyMs,
            CpuPercent = run.CpuPercent(segment),
            Threads = run.Threads(segment),
            Changes = changes,
            SecondsToLastChange = last,
        };
    }
}
