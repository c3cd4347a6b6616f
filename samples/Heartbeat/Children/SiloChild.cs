using Harness.Children;
using Heartbeat.Cluster;
using Heartbeat.Options;

namespace Heartbeat.Children;

/// <summary>The silo process.</summary>
public static class SiloChild
{
    private static readonly TimeSpan Period = TimeSpan.FromMilliseconds(250);

    /// <summary>Runs until standard input ends; returns the exit code.</summary>
    public static async Task<int> RunAsync(int port, int gateway, HeartbeatOptions options, CellOptions cell)
    {
        CancellationToken ended = ParentWatch.Start();
        // Before the silo, so that no instrument is missed.
        using var meter = new StageMeter();
        await using SiloHost silo = await SiloHost.StartAsync(port, gateway, options, cell, ended).ConfigureAwait(false);
        await SampleLoop.RunAsync(
            Period,
            reading => new SiloSample { T = reading.T, CpuSeconds = reading.CpuSeconds, Stages = meter.Read() },
            ended).ConfigureAwait(false);
        return 0;
    }
}
