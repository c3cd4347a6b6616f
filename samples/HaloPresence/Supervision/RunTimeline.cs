using HaloPresence.Children;
using HaloPresence.Load;
using Harness.Supervision;

namespace HaloPresence.Supervision;

/// <summary>Everything that the silos and the load client of one run have said.</summary>
public sealed class RunTimeline(int silos) : RunTimeline<SiloSample, LoadReport>(silos)
{
    /// <summary>Share of the grain messages between two times that crossed silos, 0 when there were none.</summary>
    public double RemoteShare(double from, double to)
    {
        double remote = Growth(from, to, sample => sample.RemoteMessages);
        double all = remote + Growth(from, to, sample => sample.LocalMessages);
        return all > 0 ? remote / all : 0;
    }

    /// <summary>The same share as the application itself saw it in its samples.</summary>
    public double CheckedRemoteShare(double from, double to)
    {
        double remote = Growth(from, to, sample => sample.CheckedRemote);
        double all = remote + Growth(from, to, sample => sample.CheckedLocal);
        return all > 0 ? remote / all : 0;
    }
}
