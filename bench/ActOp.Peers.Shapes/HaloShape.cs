using ActOp.Harness.Load;
using HaloPresence.Bench.Load;

namespace ActOp.Peers.Shapes;

/// <summary>
/// Halo Presence (ActOp paper, section 6.1): 4,000 players who regroup all the time, in games of 8; a client asks for the status of players
/// at a rate. A request is 18 messages between grains, so it takes a hop for each that is on another silo.
/// </summary>
internal sealed class HaloShape
{
    private const int Silos = 4;
    private const int SilosOfShort = 2;
    private const int Sampled = 200;
    private const int SetupConcurrency = 64;
    private const int Saturating = 64;
    private const double Rate = 2_000;

    /// <summary>Windows that are waited for rest, at most.</summary>
    private const int MostWindows = 24;

    /// <summary>The compiler has less than this share of the processor time of the silos when they are at rest.</summary>
    private const double AtRest = 0.03;

    private readonly ShapeRun _run;
    private readonly IHaloPeer _peer;
    private readonly GameSimulation _games;
    private readonly Lock _gate = new();
    private readonly Random _random = new(2);
    private readonly Dictionary<long, long> _gameOf = [];
    private readonly RequestTally _changes = new();
    private readonly List<GameEvent> _events = [];
    private readonly SemaphoreSlim _changing = new(SetupConcurrency);

    private HaloShape(ShapeRun run, IHaloPeer peer)
    {
        (_run, _peer) = (run, peer);
        // 67 % of the players regroup in a minute: games of about 90 s, so that a short run sees churn.
        _games = new GameSimulation(
            new GameOptions { Players = run.IsShort ? 400 : 4_000, MeanGame = TimeSpan.FromSeconds(90) }, 1);
    }

    internal static async Task PlayAsync(ShapeRun run)
    {
        var silos = await run.StartSilosAsync(run.IsShort ? SilosOfShort : Silos);
        await using var client = await run.Runtime.StartClientAsync(silos);
        await new HaloShape(run, ShapeRun.Require<IHaloPeer>(client)).PlayAsync();
    }

    private async Task PlayAsync()
    {
        _games.Begin(_events);
        await ApplyAsync(true);
        await OpenAsync(TimeSpan.FromSeconds(_run.IsShort ? 1 : 20));
        _run.Cost("halo, remote share after 20 s", "%", 100 * await RemoteShareAsync());
        _run.Cost("halo, until the silos' code is compiled", "s", await RestAsync());
        var cpu = _run.SiloCpu;
        var (latency, tally) = await OpenAsync(TimeSpan.FromSeconds(_run.IsShort ? 1 : 10));
        _run.Cost("halo, 2,000 requests/s, p50", "ms", latency.P50);
        _run.Cost("halo, 2,000 requests/s, p99", "ms", latency.P99);
        _run.Cost("halo, 2,000 requests/s, p99.9", "ms", latency.P999);
        _run.Cost("halo, processor time of a request", "us", (_run.SiloCpu - cpu).TotalMicroseconds / tally.Answered);
        await SaturateAsync(TimeSpan.FromSeconds(_run.IsShort ? 1 : 5));
        _run.Cost("halo, remote share at the end", "%", 100 * await RemoteShareAsync());
        CallShapes.Check(_changes);
    }

    /// <summary>Requests at the rate while the games go on.</summary>
    private Task<(LatencySummary Latency, RequestTally Tally)> OpenAsync(TimeSpan length) =>
        WhileGamesGoOnAsync(() => CallShapes.OpenLoopAsync(Rate, length, AskAsync));

    /// <summary>
    /// Goes on until the silos' code is compiled: half of their processor time says little about them before.
    /// </summary>
    /// <returns>Seconds since the begin of the load.</returns>
    private async Task<double> RestAsync()
    {
        var window = TimeSpan.FromSeconds(_run.IsShort ? 0.5 : 5);
        var waited = TimeSpan.FromSeconds(_run.IsShort ? 1 : 20);
        for (var windows = 0; windows < (_run.IsShort ? 2 : MostWindows); windows++)
        {
            var (cpu, compilation) = (_run.SiloCpu, _run.CompilationCpu);
            await OpenAsync(window);
            waited += window;
            if (_run.CompilationCpu - compilation < AtRest * (_run.SiloCpu - cpu))
                break;
        }

        return waited.TotalSeconds;
    }

    private async Task SaturateAsync(TimeSpan length)
    {
        var clock = new MonotonicClock();
        var loop = new ClosedLoop(clock, AskAsync, Saturating);
        var isIdle = await WhileGamesGoOnAsync(async () =>
        {
            loop.Start(clock.Now + length);
            await Task.Delay(length);
            for (var end = clock.Now + TimeSpan.FromSeconds(30); !loop.IsIdle && clock.Now < end; await Task.Delay(10))
            {
            }

            return loop.IsIdle;
        });
        CallShapes.Check(loop.Tally);
        _run.Rate("halo, 64 callers", "requests/s", loop.Tally.Answered / length.TotalSeconds);
        _run.Cost("halo, 64 callers, without an answer in 30 s", "callers", isIdle ? 0 : 1);
    }

    private async Task<T> WhileGamesGoOnAsync<T>(Func<Task<T>> load)
    {
        using var ended = new CancellationTokenSource();
        var games = GoOnAsync(ended.Token);
        var result = await load();
        await ended.CancelAsync();
        await games;
        return result;
    }

    private async ValueTask<int> AskAsync()
    {
        long player;
        lock (_gate)
            player = _games.PickPlaying(_random);
        await _peer.RequestStatusAsync(player).ConfigureAwait(false);
        return 1;
    }

    /// <summary>Lets the games go on with the time that passes.</summary>
    private async Task GoOnAsync(CancellationToken ended)
    {
        var clock = new MonotonicClock();
        var (begin, at) = (clock.Now, _games.Now);
        while (!ended.IsCancellationRequested)
        {
            lock (_gate)
                _games.AdvanceTo(at + (clock.Now - begin), _events);
            await ApplyAsync(false);
            await Task.Delay(10, CancellationToken.None);
        }
    }

    private async Task ApplyAsync(bool isSetup)
    {
        foreach (var change in _events)
        {
            await _changing.WaitAsync();
            _ = ChangeAsync(change);
        }

        _events.Clear();
        if (!isSetup)
            return;
        for (var i = 0; i < SetupConcurrency; i++)
            await _changing.WaitAsync();
        _changing.Release(SetupConcurrency);
    }

    private async Task ChangeAsync(GameEvent change)
    {
        try
        {
            await (change.Kind switch
            {
                GameEventKind.StartGame => _peer.StartGameAsync(change.Game, change.Players),
                GameEventKind.EndGame => _peer.EndGameAsync(change.Game),
                GameEventKind.Depart => _peer.DepartAsync(change.Players[0]),
                _ => Task.CompletedTask,
            }).ConfigureAwait(false);
            lock (_gate)
                Note(change);
        }
        catch (Exception error)
        {
            _changes.Fail(error.GetType().Name + ": " + error.Message);
        }
        finally
        {
            _changing.Release();
        }
    }

    private void Note(GameEvent change)
    {
        foreach (var player in change.Players)
        {
            if (change.Kind == GameEventKind.StartGame)
                _gameOf[player] = change.Game;
            else if (change.Kind == GameEventKind.EndGame && _gameOf.TryGetValue(player, out var game) && game == change.Game)
                _gameOf.Remove(player);
        }
    }

    /// <summary>The share of the players of a sample whose game is on another silo.</summary>
    private async Task<double> RemoteShareAsync()
    {
        (long Player, long Game)[] sample;
        lock (_gate)
            sample = [.. _gameOf.OrderBy(_ => _random.Next()).Take(Sampled).Select(static pair => (pair.Key, pair.Value))];
        var remote = await Task.WhenAll(sample.Select(pair => _peer.IsRemoteAsync(pair.Player, pair.Game)));
        return remote.Count(static one => one) / (double)Math.Max(1, remote.Length);
    }
}
