using System.Collections.Concurrent;
using ActOp.Harness.Processes;
using HaloPresence.Bench.Silos;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace HaloPresence.Bench.Load;

/// <summary>What the load is applied to: a cluster, or a fake in tests and rehearsals. Called from several threads at once.</summary>
public interface ILoadTarget : IAsyncDisposable
{
    /// <summary>Asks for the status of a player and of those in its game.</summary>
    /// <returns>The grain messages it took: 18 in a game of 8, 0 when the player is in no game.</returns>
    ValueTask<int> RequestStatus(long player);

    /// <summary>A new game begins with these players.</summary>
    ValueTask StartGame(long game, long[] players);

    /// <summary>A game is over.</summary>
    ValueTask EndGame(long game);

    /// <summary>A player has left the system.</summary>
    ValueTask Depart(long player);
}

/// <summary>Chooses what the load is applied to.</summary>
public static class LoadTarget
{
    /// <summary>The cluster behind the gateways, or what stands for it in a rehearsal.</summary>
    public static async Task<ILoadTarget> ConnectAsync(
        HaloOptions options, int[] gateways, CancellationToken cancellation, ClusterKeys? keys = null) =>
        options.Rehearse ? new RehearsalTarget() : await ClusterLoad.ConnectAsync(gateways, cancellation, keys).ConfigureAwait(false);
}

/// <summary>
/// Answers requests from a table of who is in which game, without grains. What a run with it costs is what the harness costs;
/// it also checks that games are started and ended as they must be.
/// </summary>
public sealed class RehearsalTarget : ILoadTarget
{
    private readonly ConcurrentDictionary<long, long> _gameOf = new();
    private readonly ConcurrentDictionary<long, long[]> _games = new();

    /// <summary>Games running.</summary>
    public int GameCount => _games.Count;

    /// <summary>Players in a game.</summary>
    public int PlayingCount => _gameOf.Count;

    /// <inheritdoc/>
    public ValueTask<int> RequestStatus(long player) =>
        new(_gameOf.TryGetValue(player, out var game) && _games.TryGetValue(game, out var players) ? 2 + 2 * players.Length : 0);

    /// <inheritdoc/>
    public ValueTask StartGame(long game, long[] players)
    {
        if (!_games.TryAdd(game, players))
            throw new InvalidOperationException($"Game {game} runs already.");
        foreach (var player in players)
        {
            if (!_gameOf.TryAdd(player, game))
                throw new InvalidOperationException($"Player {player} is in a game already and cannot join game {game}.");
        }
        return default;
    }

    /// <inheritdoc/>
    public ValueTask EndGame(long game)
    {
        if (!_games.TryRemove(game, out var players))
            throw new InvalidOperationException($"Game {game} does not run.");
        foreach (var player in players)
            _gameOf.TryRemove(player, out _);
        return default;
    }

    /// <inheritdoc/>
    public ValueTask Depart(long player) =>
        _gameOf.ContainsKey(player) ? throw new InvalidOperationException($"Player {player} departs from within a game.") : default;

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => default;
}

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

    /// <summary>The connected client.</summary>
    public IClusterClient Client => _client;

    /// <summary>Connects to the cluster behind the gateways.</summary>
    public static async Task<ClusterLoad> ConnectAsync(int[] gateways, CancellationToken cancellation, ClusterKeys? keys = null)
    {
        var builder = QuietHost.CreateBuilder();
        builder.UseOrleansClient(client =>
        {
            client.UseLocalhostClustering(gateways);
            keys?.AddTo(client);
        });
        var host = builder.Build();
        await host.StartAsync(cancellation);
        return new ClusterLoad(host);
    }

    /// <inheritdoc/>
    public async ValueTask<int> RequestStatus(long player)
    {
        var status = await _client.GetGrain<IPlayerGrain>(player).GetStatus().ConfigureAwait(false);
        // A call and its reply between player and game, and between the game and each of its players.
        return status.Game == 0 ? 0 : 2 + (2 * status.Players);
    }

    /// <inheritdoc/>
    public ValueTask StartGame(long game, long[] players) => new(_client.GetGrain<IGameGrain>(game).Start(players));

    /// <inheritdoc/>
    public ValueTask EndGame(long game) => new(_client.GetGrain<IGameGrain>(game).End());

    /// <inheritdoc/>
    public ValueTask Depart(long player) => new(_client.GetGrain<IPlayerGrain>(player).Depart());

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _host.StopAsync().ConfigureAwait(false);
        _host.Dispose();
    }
}
