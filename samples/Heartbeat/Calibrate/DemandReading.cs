using ActOp.Staging.Model;
using Heartbeat.Children;
using Heartbeat.Load;
using Heartbeat.Runs;

namespace Heartbeat.Calibrate;

/// <summary>Reads what the stages had to do off a run (paper, section 5.4).</summary>
public static class DemandReading
{
    /// <summary>Receive, work and client send, in the measured segment.</summary>
    /// <exception cref="InvalidOperationException">The run failed, or the runtime did not say what its stages take.</exception>
    public static StageDemand[] Of(CellRun run)
    {
        SegmentReport measured = run.Segment(SegmentNames.Measure);
        StageDemand[] demands = [.. ((int[])[StageNames.Receive, StageNames.Work, StageNames.ClientSend]).Select(stage => Of(run.Timeline, measured, stage))];
        if (demands.All(demand => demand.Arrivals == 0))
            throw new InvalidOperationException("The runtime does not say what processor time its stages take: there is nothing to fit.");
        return demands;
    }

    private static StageDemand Of(CellTimeline timeline, SegmentReport measured, int stage)
    {
        double Growth(Func<StageReading, double> counter) => timeline.Growth(measured.From, measured.From + measured.Seconds, sample => counter(sample.Stages[stage]));
        double events = Growth(reading => reading.Executed);
        double compute = events > 0 ? Growth(reading => reading.Cpu) / events : 0;
        // So few events that none was sampled: as the runtime does, as if there were none.
        if (compute <= 0)
            return new StageDemand(0, 0);
        double blocked = Math.Max(0, Growth(reading => reading.Wall - reading.Cpu - reading.Ready) / events);
        return new StageDemand(events / measured.Seconds, compute, blocked);
    }
}
