using System.Globalization;
using ActOp.Harness.Processes;
using ActOp.Orleans;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Hosting;

namespace ActOp.Peers.Blocking;

/// <summary>A grain that notes the beat of one client, as the Heartbeat sample does, by a synchronous call to something slow.</summary>
public interface IMonitorGrain : IGrainWithIntegerKey
{
    /// <summary>Notes a beat.</summary>
    /// <param name="milliseconds">How long the call to the slow thing takes.</param>
    Task Beat(int milliseconds);

    /// <summary>What the silo's process has used.</summary>
    Task<SiloUse> Use();
}

/// <summary>What a silo's process has used.</summary>
/// <param name="CpuSeconds">Processor time.</param>
/// <param name="Threads">Threads of its pool now.</param>
[GenerateSerializer]
public readonly record struct SiloUse([property: Id(0)] double CpuSeconds, [property: Id(1)] int Threads);

/// <inheritdoc cref="IMonitorGrain"/>
public sealed class MonitorGrain : Grain, IMonitorGrain
{
    private long _beats;

    /// <inheritdoc/>
    public Task Beat(int milliseconds)
    {
        _beats++;
        if (milliseconds > 0)
            Thread.Sleep(milliseconds);
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public Task<SiloUse> Use() => Task.FromResult(new SiloUse(Environment.CpuUsage.TotalTime.TotalSeconds, ThreadPool.ThreadCount));
}

/// <summary>The process of the silo.</summary>
internal static class BlockingSilo
{
    internal const string Ready = "ready";

    /// <summary>Runs until its parent is gone.</summary>
    internal static async Task RunAsync(int port, bool threads, bool log)
    {
        var ended = ParentWatch.Start();
        var builder = QuietHost.CreateBuilder();
        if (log)
            builder.Logging.AddFilter("ActOp.Orleans.Threads", LogLevel.Information);
        builder.UseOrleans(silo =>
        {
            silo.UseLocalhostClustering(port, port + 1);
            if (threads)
                silo.AddActOpThreads();
        });
        using var host = builder.Build();
        await host.StartAsync(ended);
        Console.Out.WriteLine(Ready);
        await Task.Delay(Timeout.Infinite, ended).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await host.StopAsync(CancellationToken.None);
    }

    /// <summary>The arguments of its process.</summary>
    internal static string[] Arguments(int port, bool threads, bool log) =>
    [
        "silo", "--port", port.ToString(CultureInfo.InvariantCulture), "--threads", threads.ToString(), "--log", log.ToString(),
    ];
}
