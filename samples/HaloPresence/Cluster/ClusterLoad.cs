using HaloPresence.Grains;
using HaloPresence.Load;
using Harness.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace HaloPresence.Cluster;

/// <summary>The cluster as the load sees it: calls to game and player grains from a client outside.</summary>
public sealed class ClusterLoad : ILoadTarget
{
    private readonly IHost _host;
    private readonly IClusterClient _client;

    private ClusterLoad(IHost host)
    {
        _host = host;
        _client = host.Services.GetRequiredService<IClusterClient>();
    }

    /// <summary>Connects to the cluster behind the gateways.</summary>
    public static async Task<ClusterLoad> ConnectAsync(int[] gateways, CancellationToken cancellation)
    {
        HostApplicationBuilder builder = QuietHost.CreateBuilder();
        builder.UseOrleansClient(client => client.UseLocalhostClustering(gateways));
        IHost host = builder.Build();
        await host.StartAsync(cancellation);
        return new ClusterLoad(host);
    }

    /// <inheritdoc/>
    public async ValueTask<int> RequestStatus(long player)
    {
        PlayerStatus status = await _client.GetGrain<IPlayerGrain>(player).GetStatus().ConfigureAwait(false);
        return status.Messages;
    }

    /// <inheritdoc/>
    public ValueTask StartGame(long game, long[] players) => _client.GetGrain<IGameGrain>(game).Start(players);

    /// <inheritdoc/>
    public ValueTask EndGame(long game) => _client.GetGrain<IGameGrain>(game).End();

    /// <inheritdoc/>
    public ValueTask Depart(long player) => _client.GetGrain<IPlayerGrain>(player).Depart();

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _host.StopAsync().ConfigureAwait(false);
        _host.Dispose();
    }
}
