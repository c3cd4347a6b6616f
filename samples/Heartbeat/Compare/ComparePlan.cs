using Heartbeat.Load;
using Heartbeat.Options;
using Heartbeat.Runs;

namespace Heartbeat.Compare;

/// <summary>
/// The order of a comparison: all allocations of one kind of request in a row, so that a drift of the machine hits all alike. Every pass
/// begins with another one.
/// </summary>
public static class ComparePlan
{
    /// <summary>The longest wait for what a level has left in flight, in seconds.</summary>
    private const double LongestRest = 4;

    /// <summary>Starting and stopping the processes of a run, in seconds; only to say how long it will take.</summary>
    private const double RunOverhead = 2.5;

    /// <summary>A search for a peak, in seconds; only to say how long it will take.</summary>
    private const double SearchSeconds = 40;

    /// <summary>Every combination, <paramref name="repeats"/> times.</summary>
    public static IReadOnlyList<PlannedRun> Build(
        IReadOnlyList<Allocation> allocations, IReadOnlyList<double> compute, IReadOnlyList<double> blocking, int repeats)
    {
        var runs = new List<PlannedRun>();
        for (int repeat = 1; repeat <= repeats; repeat++)
        {
            // Kinds of requests begin with different ones too: else the first of a single pass would always be the same.
            int first = repeat - 1;
            foreach (double computeUs in compute)
            {
                foreach (double percent in blocking)
                {
                    for (int i = 0; i < allocations.Count; i++)
                        runs.Add(new PlannedRun(repeat, computeUs, percent, allocations[(i + first) % allocations.Count]));
                    first++;
                }
            }
        }
        return runs;
    }

    /// <summary>
    /// The load of a run: after compilation, each level with a warm-up of its own. What one leaves in flight is answered before the next
    /// begins.
    /// </summary>
    public static IEnumerable<Segment> Segments(HeartbeatOptions options, IReadOnlyList<(LoadLevel Load, double Rate)> loads)
    {
        yield return CellRunner.Compile;
        for (int i = 0; i < loads.Count; i++)
        {
            if (i > 0)
                yield return new Segment(SegmentNames.Rest, LongestRest, 0);
            yield return new Segment(SegmentNames.Warmup, options.Warmup, loads[i].Rate);
            yield return new Segment(SegmentNames.MeasureOf(loads[i].Load), options.Measure, loads[i].Rate);
        }
    }

    /// <summary>About how many seconds so many runs take that measure so many loads each, after some searches for a peak.</summary>
    public static double Seconds(HeartbeatOptions options, int runs, int loads, int searches) =>
        runs * (CellRunner.CompileSeconds + RunOverhead + loads * (options.Warmup + options.Measure)) + searches * SearchSeconds;
}
