using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using Heartbeat.Bench.Load;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Heartbeat.Bench.Silos;

/// <summary>The silo as the load sees it: calls to grains from a client outside.</summary>
public sealed class SiloTarget : IBeatTarget
{
    /// <summary>A call and its reply.</summary>
    private const int Messages = 2;
    private readonly IHost _host;
    private readonly IClusterClient _client;
    private readonly bool _counts;

    private SiloTarget(IHost host, Application application)
    {
        _host = host;
        _client = host.Services.GetRequiredService<IClusterClient>();
        _counts = application == Application.Counter;
    }

    /// <summary>Connects to the silo behind the gateways.</summary>
    public static async Task<SiloTarget> ConnectAsync(int[] gateways, Application application, CancellationToken cancellation)
    {
        var builder = QuietHost.CreateBuilder();
        builder.UseOrleansClient(client => client.UseLocalhostClustering(gateways));
        var host = builder.Build();
        await host.StartAsync(cancellation).ConfigureAwait(false);
        return new SiloTarget(host, application);
    }

    /// <inheritdoc/>
    public async ValueTask<int> Send(Beat beat)
    {
        RequestedWork.Ask(beat);
        if (_counts)
            await _client.GetGrain<ICounterGrain>(beat.Client).Increment().ConfigureAwait(false);
        else if (beat.IsRead)
            await _client.GetGrain<IStatusGrain>(beat.Client).Read(beat.Entries).ConfigureAwait(false);
        else
            await _client.GetGrain<IStatusGrain>(beat.Client).Update(beat.Number).ConfigureAwait(false);
        return Messages;
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _host.StopAsync().ConfigureAwait(false);
        _host.Dispose();
    }
}

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
