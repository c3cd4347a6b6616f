using System.Globalization;
using ActOp.Configuration;
using ActOp.Harness.Processes;
using ActOp.Staging;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Heartbeat.Bench.Silos;

/// <summary>The application's silo in this process, with what measures it around it.</summary>
public sealed class SiloHost : IAsyncDisposable
{
    private const int EightThreads = 8;
    private readonly IHost _host;

    private SiloHost(IHost host) => _host = host;

    /// <summary>Starts the silo with the threads of the cell.</summary>
    public static async Task<SiloHost> StartAsync(
        int port, int gateway, HeartbeatOptions options, CellOptions cell, CancellationToken cancellation)
    {
        var builder = QuietHost.CreateBuilder();
        builder.Configuration.AddInMemoryCollection(
        [
            new("Silo:Port", port.ToString(CultureInfo.InvariantCulture)),
            new("Silo:Gateway", gateway.ToString(CultureInfo.InvariantCulture)),
        ]);
        builder.AddHeartbeat();
        builder.Services.Configure<StageOptions>(stages => Configure(stages, options, cell));
        if (cell.BlockingPercent > 0 || cell.ComputeUs > 0)
            builder.Services.AddSingleton<IIncomingGrainCallFilter, RequestedWork>();
        var host = builder.Build();
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
        var isOneReader = cell.Allocation == Allocation.OneReader;
        stages.ReceiveThreads = Pin(cell.ReceiveThreads) ?? (isOneReader ? 1 : all);
        stages.WorkThreads = Pin(cell.WorkThreads) ?? (isOneReader ? 2 : all);
        stages.SiloSendThreads = all;
        stages.ClientSendThreads = Pin(cell.ClientSendThreads) ?? all;
    }

    private static int? Pin(int threads) => threads > 0 ? threads : null;
}

/// <summary>The silo process.</summary>
public static class SiloChild
{
    private static readonly TimeSpan Period = TimeSpan.FromMilliseconds(250);

    /// <summary>Runs until standard input ends; returns the exit code.</summary>
    public static async Task<int> RunAsync(int port, int gateway, HeartbeatOptions options, CellOptions cell)
    {
        var ended = ParentWatch.Start();
        // Before the silo, so that no instrument is missed.
        using var meter = new StageMeter();
        await using var silo = await SiloHost.StartAsync(port, gateway, options, cell, ended).ConfigureAwait(false);
        await SampleLoop.RunAsync(
            Period,
            reading => new SiloSample { T = reading.T, CpuSeconds = reading.CpuSeconds, Stages = meter.Read() },
            ended).ConfigureAwait(false);
        return 0;
    }
}

/// <summary>What the silo process says four times a second.</summary>
public sealed record SiloSample : ITimed
{
    /// <summary>Seconds on the machine's monotonic clock.</summary>
    public required double T { get; init; }

    /// <summary>Processor time of the process in seconds.</summary>
    public required double CpuSeconds { get; init; }

    /// <summary>The stages, in the order of <see cref="StageNames"/>.</summary>
    public required StageReading[] Stages { get; init; }
}
