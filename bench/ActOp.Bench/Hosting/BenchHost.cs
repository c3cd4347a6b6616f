using System.Net;
using ActOp.Configuration;
using ActOp.Harness.Processes;
using ActOp.Runtime.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans.Configuration;

namespace ActOp.Bench.Hosting;

/// <summary>A silo or a client in this process.</summary>
internal sealed class BenchHost : IAsyncDisposable
{
    private readonly IHost _host;
    private bool _isStopped;

    private BenchHost(IHost host) => _host = host;

    internal IGrainFactory Grains => _host.Services.GetRequiredService<IGrainFactory>();

    internal Node Node => _host.Services.GetRequiredService<Node>();

    internal static async Task<BenchHost> StartSilo(
        int port, int gateway, int? primary, bool locality, Action<StageOptions>? stages = null, SiloLinks links = default,
        Action<ISiloBuilder>? configure = null)
    {
        var builder = QuietHost.CreateBuilder();
        builder.UseOrleans(silo =>
        {
            silo.UseLocalhostClustering(port, gateway, primary is { } other ? new IPEndPoint(IPAddress.Loopback, other) : null);
            silo.Configure<LocalityOptions>(options => options.Enabled = locality);
            silo.Configure(stages ?? (static _ => { }));
            if (links.Tls is { } tls)
                silo.UseTls(options => BenchCertificate.Use(options, tls));
            if (links.Middleware)
                silo.Configure<SiloConnectionOptions>(Watch);
            configure?.Invoke(silo);
        });
        return await Start(builder);
    }

    internal static Task<BenchHost> StartSilo(
        bool locality, Action<StageOptions>? stages = null, Action<ISiloBuilder>? configure = null)
    {
        var ports = Ports.FindFree(2);
        return StartSilo(ports[0], ports[1], null, locality, stages, default, configure);
    }

    internal static async Task<BenchHost> StartClient(int gateway, string? tls = null)
    {
        var builder = QuietHost.CreateBuilder();
        builder.UseOrleansClient(client =>
        {
            client.UseLocalhostClustering([gateway]);
            if (tls is not null)
                client.UseTls(options => BenchCertificate.Use(options, tls));
        });
        return await Start(builder);
    }

    // Nobody needs the activations any more: an orderly end of a hundred thousand of them would be measured as waiting.
    public async ValueTask DisposeAsync() => await StopAsync(TimeSpan.FromSeconds(1));

    /// <summary>Stops the silo or client, once.</summary>
    internal async Task StopAsync(TimeSpan longest)
    {
        if (_isStopped)
            return;
        _isStopped = true;
        using var limit = new CancellationTokenSource(longest);
        await _host.StopAsync(limit.Token);
        _host.Dispose();
    }

    private static void Watch(SiloConnectionOptions options)
    {
        options.ConfigureSiloInboundConnection(static builder => builder.Use(static next => connection => next(connection)));
        options.ConfigureSiloOutboundConnection(static builder => builder.Use(static next => connection => next(connection)));
    }

    private static async Task<BenchHost> Start(HostApplicationBuilder builder)
    {
        var host = builder.Build();
        await host.StartAsync();
        return new BenchHost(host);
    }
}
