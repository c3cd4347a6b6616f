using Harness.Load;

namespace Heartbeat.Load;

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
        BeatReport first = reports[0];
        return first with
        {
            IsDone = reports.All(report => report.IsDone),
            Answered = reports.Sum(report => report.Answered),
            Errors = reports.Sum(report => report.Errors),
            Outstanding = reports.Sum(report => report.Outstanding),
            MaxLagMs = reports.Max(report => report.MaxLagMs),
            Segments = [.. Enumerable.Range(0, reports.Min(report => report.Segments.Length)).Select(i => Merge([.. reports.Select(report => report.Segments[i])]))],
        };
    }

    private static SegmentReport Merge(SegmentReport[] parts)
    {
        var latency = new LatencyHistogram();
        foreach (SegmentReport part in parts)
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
