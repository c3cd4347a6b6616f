using System.Globalization;
using ActOp.Harness.Processes;
using HaloPresence.Bench.Load;
using HaloPresence.Bench.Silos;

namespace HaloPresence.Bench.Results;

/// <summary>Everything that the silos and the load client of one run have said.</summary>
public sealed class RunTimeline(int silos) : RunTimeline<SiloSample, LoadReport>(silos)
{
    /// <summary>Share of the grain messages between two times that crossed silos, 0 when there were none.</summary>
    public double RemoteShare(double from, double to)
    {
        var remote = Growth(from, to, sample => sample.RemoteMessages);
        var all = remote + Growth(from, to, sample => sample.LocalMessages);
        return all > 0 ? remote / all : 0;
    }

    /// <summary>The same share as the places of sampled grains say it, see <see cref="PlaceCheck"/>.</summary>
    public double CheckedRemoteShare(double from, double to)
    {
        var remote = Growth(from, to, sample => sample.CheckedRemote);
        var all = remote + Growth(from, to, sample => sample.CheckedLocal);
        return all > 0 ? remote / all : 0;
    }
}

/// <summary>The state of a run as a few named texts, for both views.</summary>
public static class RunProgress
{
    private const double Window = 5;

    /// <summary>Names and values as of the load client's last report; values of the last 5 seconds where a rate is meant.</summary>
    public static IReadOnlyList<(string Name, string Value)> Read(RunTimeline timeline)
    {
        if (timeline.Load is not { } load)
            return ProgressTexts.Starting;
        var now = load.T;
        var from = now - Window;
        var cpu = timeline.Growth(from, now, sample => sample.CpuSeconds) / Window;
        return
        [
            ("phase", load.Phase.ToString().ToLowerInvariant()),
            ("remote share", timeline.RemoteShare(from, now).ToString("P1", CultureInfo.InvariantCulture)),
            ProgressTexts.Latency(load.LatencyMs),
            ProgressTexts.Count("answered", load.AllRequests),
            ("silo CPU cores", cpu.ToString("0.00", CultureInfo.InvariantCulture)),
            ProgressTexts.Count("moves", timeline.Growth(0, now, sample => sample.Moves)),
            ProgressTexts.Count("in flight", load.Outstanding),
            ("errors", load.Errors == 0 ? "0" : $"{load.Errors:N0} ({load.ErrorTexts.FirstOrDefault()})"),
        ];
    }
}
