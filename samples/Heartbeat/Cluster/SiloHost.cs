using ActOp.Configuration;
using ActOp.Staging;
using Harness.Hosting;
using Heartbeat.Options;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Heartbeat.Cluster;

/// <summary>The silo, in this process.</summary>
public sealed class SiloHost : IAsyncDisposable
{
    private const int EightThreads = 8;
    private readonly IHost _host;

    private SiloHost(IHost host) => _host = host;

    /// <summary>Starts the silo with the threads of the cell.</summary>
    public static async Task<SiloHost> StartAsync(int port, int gateway, HeartbeatOptions options, CellOptions cell, CancellationToken cancellation)
    {
        HostApplicationBuilder builder = QuietHost.CreateBuilder();
        builder.UseOrleans(silo =>
        {
            silo.UseLocalhostClustering(port, gateway);
            silo.Configure<StageOptions>(stages => Configure(stages, options, cell));
        });
        IHost host = builder.Build();
        await host.StartAsync(cancellation).ConfigureAwait(false);
        return new SiloHost(host);
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _host.StopAsync().ConfigureAwait(false);
        _host.Dispose();
    }

    /// <summary>What an allocation means to the runtime.</summary>
    public static void Configure(StageOptions stages, HeartbeatOptions options, CellOptions cell)
    {
        stages.Mode = cell.Allocation == Allocation.ThreadPool ? StageMode.ThreadPool : StageMode.OwnThreads;
        stages.Controller = cell.Allocation switch
        {
            Allocation.Model => StageController.Model,
            Allocation.QueueLength => StageController.QueueLength,
            _ => StageController.Fixed,
        };
        stages.QueuePeriod = TimeSpan.FromSeconds(options.QueuePeriod);
        if (options.ThreadPenalty > 0)
            stages.ThreadPenalty = TimeSpan.FromMicroseconds(options.ThreadPenalty);
        int? all = cell.Allocation == Allocation.Eight ? EightThreads : null;
        bool isOneReader = cell.Allocation == Allocation.OneReader;
        stages.ReceiveThreads = Pin(cell.ReceiveThreads) ?? (isOneReader ? 1 : all);
        stages.WorkThreads = Pin(cell.WorkThreads) ?? (isOneReader ? 2 : all);
        stages.SiloSendThreads = all;
        stages.ClientSendThreads = Pin(cell.ClientSendThreads) ?? all;
    }

    private static int? Pin(int threads) => threads > 0 ? threads : null;
}
