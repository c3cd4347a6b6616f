using System.Globalization;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;

namespace Heartbeat.Bench.Load;

/// <summary>A stretch of the load.</summary>
/// <param name="Name">What it is called in results.</param>
/// <param name="Seconds">How long it lasts.</param>
/// <param name="Rate">
/// Requests per second, open loop; 0 means a closed loop, and without concurrency a rest that ends when nothing is in flight.
/// </param>
/// <param name="Concurrency">Requests in flight in the closed loop.</param>
/// <param name="Entries">Entries of history in the answer of a read.</param>
public sealed record Segment(string Name, double Seconds, double Rate, int Concurrency = 0, int Entries = 0);

/// <summary>Segments as one argument: <c>name:seconds:rate:concurrency:entries</c>, with commas between segments.</summary>
public static class Schedule
{
    private const int Fields = 5;

    /// <summary>Writes segments; names contain neither colons nor commas.</summary>
    public static string Print(params IEnumerable<Segment> segments) => string.Join(',', segments.Select(segment =>
        string.Create(
            CultureInfo.InvariantCulture, $"{segment.Name}:{segment.Seconds:R}:{segment.Rate:R}:{segment.Concurrency}:{segment.Entries}")));

    /// <summary>Reads what <see cref="Print"/> wrote.</summary>
    /// <exception cref="FormatException">The text is something else.</exception>
    public static Segment[] Parse(string text) => [.. text.Split(',', StringSplitOptions.RemoveEmptyEntries).Select(ParseOne)];

    private static Segment ParseOne(string text)
    {
        var parts = text.Split(':');
        if (parts.Length != Fields)
            throw new FormatException($"A segment of the load has {Fields} parts: '{text}'.");
        return new Segment(parts[0], Number(parts[1]), Number(parts[2]), (int)Number(parts[3]), (int)Number(parts[4]));
    }

    private static double Number(string text) => double.Parse(text, NumberStyles.Float, CultureInfo.InvariantCulture);
}

/// <summary>A segment that runs or has run, and what was counted in it.</summary>
internal sealed class SegmentRun(Segment segment, TimeSpan from, double cpuFrom)
{
    public Segment Segment { get; } = segment;

    public TimeSpan From { get; } = from;

    /// <summary>Processor time of this process in seconds since the segment began, as of its end.</summary>
    public double CpuSeconds { get; private set; }

    /// <summary>Counts of the open loop.</summary>
    public RequestTally Tally { get; } = new();

    /// <summary>Latencies of the open loop.</summary>
    public LatencyHistogram Latency { get; } = new();

    /// <summary>The closed loop, if the segment is one.</summary>
    public ClosedLoop? Closed { get; set; }

    public RequestTally CountedBy => Closed?.Tally ?? Tally;

    public LatencyHistogram MeasuredBy => Closed?.Latency ?? Latency;

    /// <summary>Notes the processor time at the end.</summary>
    public void End(double cpu) => CpuSeconds = cpu - cpuFrom;

    public SegmentReport Report() => new()
    {
        Name = Segment.Name,
        From = From.TotalSeconds,
        Seconds = Segment.Seconds,
        Rate = Segment.Rate,
        CpuSeconds = CpuSeconds,
        Requests = CountedBy.Answered,
        Errors = CountedBy.Errors,
        ErrorTexts = CountedBy.ErrorTexts,
        MeanMs = MeasuredBy.Mean.TotalMilliseconds,
        LatencyMs = MeasuredBy.Summarize(),
        Histogram = MeasuredBy.ToPairs(),
    };
}

/// <summary>The outcome of one segment: the requests that were meant to start in it.</summary>
public sealed record SegmentReport
{
    /// <summary>Its name.</summary>
    public required string Name { get; init; }

    /// <summary>Its begin in seconds on the machine's monotonic clock.</summary>
    public required double From { get; init; }

    /// <summary>Its planned length in seconds.</summary>
    public required double Seconds { get; init; }

    /// <summary>The rate that was asked for; 0 in a closed loop.</summary>
    public required double Rate { get; init; }

    /// <summary>Processor time of the load client in it, in seconds.</summary>
    public double CpuSeconds { get; init; }

    /// <summary>Requests answered.</summary>
    public required long Requests { get; init; }

    /// <summary>Requests that failed, were refused for too many in flight, or got no answer.</summary>
    public required long Errors { get; init; }

    /// <summary>The first distinct error texts.</summary>
    public required string[] ErrorTexts { get; init; }

    /// <summary>Mean latency in ms.</summary>
    public required double MeanMs { get; init; }

    /// <summary>Quantiles of the latency since the intended start, of the answered requests.</summary>
    public required LatencySummary LatencyMs { get; init; }

    /// <summary>The distribution.</summary>
    public required long[][] Histogram { get; init; }
}

/// <summary>What the load client says once a second, and at the end.</summary>
public sealed record BeatReport : ILoadReport
{
    /// <summary>Seconds on the machine's monotonic clock.</summary>
    public required double T { get; init; }

    /// <summary>The segment that runs.</summary>
    public required string Segment { get; init; }

    /// <summary>Whether the load is over.</summary>
    public required bool IsDone { get; init; }

    /// <summary>Requests answered so far.</summary>
    public long Answered { get; init; }

    /// <summary>Requests that failed so far.</summary>
    public long Errors { get; init; }

    /// <summary>Requests in flight.</summary>
    public long Outstanding { get; init; }

    /// <summary>The furthest that the client itself was behind an intended start, in ms.</summary>
    public double MaxLagMs { get; init; }

    /// <summary>Latency in the segment that runs.</summary>
    public LatencySummary? LatencyMs { get; init; }

    /// <summary>All segments, when done.</summary>
    public SegmentReport[] Segments { get; init; } = [];

    /// <summary>The steps of the search for the peak, when done.</summary>
    public PeakStep[] PeakSteps { get; init; } = [];
}

/// <summary>Puts together what several load clients say.</summary>
public static class BeatReports
{
    /// <summary>
    /// One report for all: sums, distributions together, segment by segment. They begin with the last client that begins them.
    /// </summary>
    public static BeatReport Merge(IReadOnlyList<BeatReport> reports)
    {
        if (reports.Count == 1)
            return reports[0];
        var first = reports[0];
        return first with
        {
            IsDone = reports.All(report => report.IsDone),
            Answered = reports.Sum(report => report.Answered),
            Errors = reports.Sum(report => report.Errors),
            Outstanding = reports.Sum(report => report.Outstanding),
            MaxLagMs = reports.Max(report => report.MaxLagMs),
            Segments = [.. Enumerable.Range(0, reports.Min(report => report.Segments.Length))
                .Select(i => Merge([.. reports.Select(report => report.Segments[i])]))],
        };
    }

    private static SegmentReport Merge(SegmentReport[] parts)
    {
        var latency = new LatencyHistogram();
        foreach (var part in parts)
            latency.Merge(LatencyHistogram.FromPairs(part.Histogram));
        return parts[0] with
        {
            From = parts.Max(part => part.From),
            Rate = parts.Sum(part => part.Rate),
            CpuSeconds = parts.Sum(part => part.CpuSeconds),
            Requests = parts.Sum(part => part.Requests),
            Errors = parts.Sum(part => part.Errors),
            ErrorTexts = [.. parts.SelectMany(part => part.ErrorTexts).Distinct()],
            MeanMs = latency.Mean.TotalMilliseconds,
            LatencyMs = latency.Summarize(),
            Histogram = latency.ToPairs(),
        };
    }
}
