using System.Text.Json.Serialization;
using Harness.Load;
using Heartbeat.Load;
using Heartbeat.Options;
using Heartbeat.Runs;

namespace Heartbeat.Compare;

/// <summary>The outcome of a cell, as written to JSON.</summary>
public sealed record CellResult
{
    /// <summary>Who gave the stages their threads.</summary>
    public required Allocation Allocation { get; init; }

    /// <summary>The load.</summary>
    public required LoadLevel Load { get; init; }

    /// <summary>Requests per second asked for.</summary>
    public required double Rate { get; init; }

    /// <summary>Microseconds of processor time that every request used.</summary>
    public required double ComputeUs { get; init; }

    /// <summary>Percent of the requests that blocked their thread.</summary>
    public required double BlockingPercent { get; init; }

    /// <summary>Which pass, from 1.</summary>
    public required int Repeat { get; init; }

    /// <summary>Latency since the intended start of the answered requests, in ms.</summary>
    public LatencySummary LatencyMs { get; init; } = new(0, 0, 0, 0, 0);

    /// <summary>Requests answered.</summary>
    public long Requests { get; init; }

    /// <summary>Requests that failed, were refused for too many in flight, or got no answer.</summary>
    public long Errors { get; init; }

    /// <summary>The first distinct error texts.</summary>
    public string[] ErrorTexts { get; init; } = [];

    /// <summary>Requests answered per second.</summary>
    public double AchievedRate { get; init; }

    /// <summary>The furthest that the load client itself was behind, in ms.</summary>
    public double ClientMaxLagMs { get; init; }

    /// <summary>Processor use of the silo; 100 is one core.</summary>
    public double CpuPercent { get; init; }

    /// <summary>Processor use of the load clients; 100 is the whole machine.</summary>
    public double ClientPercent { get; init; }

    /// <summary>Threads at the end.</summary>
    public ThreadNumbers Threads { get; init; } = new(0, 0, 0, 0);

    /// <summary>Changes of the stages' threads while it was measured.</summary>
    public int ThreadChanges { get; init; }

    /// <summary>The latency distribution, for the report.</summary>
    [JsonIgnore]
    public LatencyHistogram Latency { get; init; } = new();

    /// <summary>The result of one load of a run; of one that failed it has the failure for its only error.</summary>
    public static CellResult Of(PlannedRun planned, LoadLevel load, double rate, CellRun run)
    {
        var result = new CellResult
        {
            Allocation = planned.Allocation,
            Load = load,
            Rate = rate,
            ComputeUs = planned.ComputeUs,
            BlockingPercent = planned.BlockingPercent,
            Repeat = planned.Repeat,
        };
        if (run.Failure is not null)
            return result with { Errors = 1, ErrorTexts = [run.Failure] };
        SegmentReport measured = run.Segment(SegmentNames.MeasureOf(load));
        return result with
        {
            LatencyMs = measured.LatencyMs,
            Requests = measured.Requests,
            Errors = measured.Errors,
            ErrorTexts = measured.ErrorTexts,
            AchievedRate = measured.Requests / measured.Seconds,
            ClientMaxLagMs = run.Report!.MaxLagMs,
            CpuPercent = run.CpuPercent(measured),
            ClientPercent = CellRun.ClientPercent(measured),
            Threads = run.Threads(measured),
            ThreadChanges = run.Changes(measured),
            Latency = LatencyHistogram.FromPairs(measured.Histogram),
        };
    }
}
