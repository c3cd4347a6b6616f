using System.Net;
using System.Net.Sockets;
using ActOp.Configuration;
using ActOp.Runtime.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace ActOp.Bench.Hosting;

/// <summary>A silo or a client in this process.</summary>
internal sealed class BenchHost : IAsyncDisposable
{
    private readonly IHost _host;

    private BenchHost(IHost host) => _host = host;

    internal IGrainFactory Grains => _host.Services.GetRequiredService<IGrainFactory>();

    internal Node Node => _host.Services.GetRequiredService<Node>();

    internal static async Task<BenchHost> StartSilo(int port, int gateway, int? primary, bool locality, Action<StageOptions>? stages = null)
    {
        var builder = CreateBuilder();
        builder.UseOrleans(silo =>
        {
            silo.UseLocalhostClustering(port, gateway, primary is { } other ? new IPEndPoint(IPAddress.Loopback, other) : null);
            silo.Configure<LocalityOptions>(options => options.Enabled = locality);
            silo.Configure(stages ?? (static _ => { }));
        });
        return await Start(builder);
    }

    internal static Task<BenchHost> StartSilo(bool locality, Action<StageOptions>? stages = null) => StartSilo(FreePort(), FreePort(), null, locality, stages);

    internal static async Task<BenchHost> StartClient(int gateway)
    {
        var builder = CreateBuilder();
        builder.UseOrleansClient(client => client.UseLocalhostClustering([gateway]));
        return await Start(builder);
    }

    internal static int FreePort()
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        return ((IPEndPoint)socket.LocalEndPoint!).Port;
    }

    public async ValueTask DisposeAsync()
    {
        // Nobody needs the activations any more: an orderly end of a hundred thousand of them would be measured as waiting.
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(1));
        await _host.StopAsync(limit.Token);
        _host.Dispose();
    }

    private static HostApplicationBuilder CreateBuilder()
    {
        var builder = new HostApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Logging.SetMinimumLevel(LogLevel.Warning);
        builder.Logging.AddConsole(console => console.LogToStandardErrorThreshold = LogLevel.Trace);
        return builder;
    }

    private static async Task<BenchHost> Start(HostApplicationBuilder builder)
    {
        var host = builder.Build();
        await host.StartAsync();
        return new BenchHost(host);
    }
}
