using Harness.Supervision;
using Heartbeat.Children;
using Heartbeat.Load;

namespace Heartbeat.Runs;

/// <summary>What the silo and the load clients of one cell have said.</summary>
public sealed class CellTimeline(int clients = 1) : RunTimeline<SiloSample, BeatReport>(1, clients)
{
    /// <summary>What all load clients say together; null while one has said nothing.</summary>
    public BeatReport? Merged => Loads.Contains(null) ? null : BeatReports.Merge(Loads!);

    /// <summary>Threads as of the last sample not after a time; all 0 before the first.</summary>
    public ThreadNumbers ThreadsAt(double time)
    {
        SiloSample? last = Samples(0).LastOrDefault(sample => sample.T <= time);
        return last is null ? new ThreadNumbers(0, 0, 0, 0) : ThreadsOf(last);
    }

    /// <summary>Threads that a sample says.</summary>
    public static ThreadNumbers ThreadsOf(SiloSample sample) => new(
        sample.Stages[StageNames.Receive].Threads, sample.Stages[StageNames.Work].Threads,
        sample.Stages[StageNames.SiloSend].Threads, sample.Stages[StageNames.ClientSend].Threads);
}
