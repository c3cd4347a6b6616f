using Harness.Children;
using Harness.Load;
using Heartbeat.Cluster;
using Heartbeat.Load;
using Heartbeat.Options;

namespace Heartbeat.Children;

/// <summary>The load process.</summary>
public static class ClientChild
{
    /// <summary>Runs the load, or until standard input ends; returns the exit code.</summary>
    public static Task<int> RunAsync(int[] gateways, HeartbeatOptions options, CellOptions cell) => LoadChild.RunAsync(
        ended => SiloTarget.ConnectAsync(gateways, options.Application, ended),
        (target, ended) => new BeatClient(
            options, cell, target, new MonotonicClock(),
            report => JsonLines.Write(Console.Out, report),
            () => Environment.CpuUsage.TotalTime.TotalSeconds).Run(ended));
}
