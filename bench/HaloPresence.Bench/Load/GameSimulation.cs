namespace HaloPresence.Bench.Load;

/// <summary>
/// Who plays with whom, in virtual time and from a seed (ActOp paper section 6.1): players arrive as a Poisson process, wait in a
/// pool, are drawn at random into games of uniformly distributed length, and leave after three to five games.
/// It starts in the steady state: games have run for a while and players have part of their games behind them.
/// </summary>
public sealed class GameSimulation
{
    private readonly GameOptions _options;
    private readonly Random _random;
    private readonly int _poolTarget;
    private readonly double _arrivalsPerSecond;
    private readonly PriorityQueue<long, (double At, long Order)> _ends = new();
    private readonly Dictionary<long, long[]> _games = [];
    private readonly Dictionary<long, int> _gamesLeft = [];
    private readonly List<long> _pool = [];
    private readonly List<long> _playing = [];
    private readonly Dictionary<long, int> _playingAt = [];
    private double _now;
    private double _nextArrival;
    private long _lastPlayer;
    private long _lastGame;
    private long _order;

    /// <summary>Creates the simulation; options must be valid.</summary>
    public GameSimulation(GameOptions options, int seed)
    {
        _options = options;
        _random = new Random(seed);
        _poolTarget = options.EffectivePool;
        // Little's law: players that play = arrivals per second x mean games x mean length of a game.
        var meanGames = (options.MinGames + options.MaxGames) / 2.0;
        _arrivalsPerSecond = (options.Players - _poolTarget) / (meanGames * options.MeanGame.TotalSeconds);
        _nextArrival = Exponential(_arrivalsPerSecond);
    }

    /// <summary>Virtual time of the last event handed out.</summary>
    public TimeSpan Now => TimeSpan.FromSeconds(_now);

    /// <summary>Virtual time of the next event, rounded up so that advancing to it makes the event happen.</summary>
    public TimeSpan NextAt => TimeSpan.FromTicks((long)(NextSecond * TimeSpan.TicksPerSecond) + 1);

    /// <summary>Players in the system, waiting or playing.</summary>
    public int PlayerCount => _gamesLeft.Count;

    /// <summary>Players waiting for a game.</summary>
    public int PoolCount => _pool.Count;

    /// <summary>Players in a game.</summary>
    public int PlayingCount => _playing.Count;

    /// <summary>Games running.</summary>
    public int GameCount => _games.Count;

    private double NextSecond =>
        _ends.TryPeek(out _, out (double At, long) first) ? Math.Min(first.At, _nextArrival) : _nextArrival;

    /// <summary>
    /// Fills the system with its average number of players and appends the events that say so to <paramref name="events"/>.
    /// </summary>
    public void Begin(List<GameEvent> events)
    {
        if (_lastPlayer != 0)
            throw new InvalidOperationException("The simulation has begun already.");
        for (var i = 0; i < _options.Players; i++)
            Arrive(events, RemainingGames());
        while (_pool.Count >= _poolTarget + _options.GameSize)
            StartGame(events, RemainingLength());
    }

    /// <summary>Advances to <paramref name="time"/> and appends what happened until then to <paramref name="events"/>, in order.</summary>
    public void AdvanceTo(TimeSpan time, List<GameEvent> events)
    {
        var until = time.TotalSeconds;
        while (NextSecond <= until)
        {
            _now = NextSecond;
            if (_nextArrival <= _now)
            {
                Arrive(events, _random.Next(_options.MinGames, _options.MaxGames + 1));
                _nextArrival = _now + Exponential(_arrivalsPerSecond);
            }
            else
            {
                EndGame(events, _ends.Dequeue());
            }
            while (_pool.Count >= _poolTarget + _options.GameSize)
                StartGame(events, Length());
        }
        _now = Math.Max(_now, until);
    }

    /// <summary>A player drawn at random from those in a game.</summary>
    /// <exception cref="InvalidOperationException">Nobody plays.</exception>
    public long PickPlaying(Random random) =>
        _playing.Count > 0 ? _playing[random.Next(_playing.Count)] : throw new InvalidOperationException("No player is in a game.");

    private void Arrive(List<GameEvent> events, int games)
    {
        var player = ++_lastPlayer;
        _gamesLeft.Add(player, games);
        _pool.Add(player);
        events.Add(new GameEvent(Now, GameEventKind.Arrive, 0, [player]));
    }

    private void StartGame(List<GameEvent> events, double length)
    {
        var game = ++_lastGame;
        var players = new long[_options.GameSize];
        for (var i = 0; i < players.Length; i++)
        {
            var at = _random.Next(_pool.Count);
            players[i] = _pool[at];
            _pool[at] = _pool[^1];
            _pool.RemoveAt(_pool.Count - 1);
            _playingAt.Add(players[i], _playing.Count);
            _playing.Add(players[i]);
        }
        _games.Add(game, players);
        _ends.Enqueue(game, (_now + length, _order++));
        events.Add(new GameEvent(Now, GameEventKind.StartGame, game, players));
    }

    private void EndGame(List<GameEvent> events, long game)
    {
        _games.Remove(game, out var players);
        events.Add(new GameEvent(Now, GameEventKind.EndGame, game, players!));
        foreach (var player in players!)
        {
            StopPlaying(player);
            if (--_gamesLeft[player] > 0)
            {
                _pool.Add(player);
                continue;
            }
            _gamesLeft.Remove(player);
            events.Add(new GameEvent(Now, GameEventKind.Depart, 0, [player]));
        }
    }

    private void StopPlaying(long player)
    {
        _playingAt.Remove(player, out var at);
        var last = _playing[^1];
        _playing.RemoveAt(_playing.Count - 1);
        if (last == player)
            return;
        _playing[at] = last;
        _playingAt[last] = at;
    }

    private double Length()
    {
        var mean = _options.MeanGame.TotalSeconds;
        return mean * (1 + _options.GameSpread * (2 * _random.NextDouble() - 1));
    }

    // A game that is running at a random moment is likelier a long one, and equally likely to be anywhere in its course.
    private double RemainingLength()
    {
        var longest = _options.MeanGame.TotalSeconds * (1 + _options.GameSpread);
        var length = Length();
        while (_random.NextDouble() * longest > length)
            length = Length();
        return length * _random.NextDouble();
    }

    // A player that is present at a random moment is likelier one of many games, and equally likely to be in any of them.
    private int RemainingGames()
    {
        var games = _random.Next(_options.MinGames, _options.MaxGames + 1);
        while (_random.Next(_options.MaxGames) >= games)
            games = _random.Next(_options.MinGames, _options.MaxGames + 1);
        return 1 + _random.Next(games);
    }

    private double Exponential(double perSecond) => -Math.Log(1 - _random.NextDouble()) / perSecond;
}

/// <summary>How many play, and how long (ActOp paper, section 6.1).</summary>
public sealed record GameOptions
{
    /// <summary>Average number of concurrent players.</summary>
    public required int Players { get; init; }

    /// <summary>Idle players waiting for a game; -1 means 1 % of the players.</summary>
    public int Pool { get; init; } = -1;

    /// <summary>Players in one game.</summary>
    public int GameSize { get; init; } = 8;

    /// <summary>Fewest games a player plays before leaving.</summary>
    public int MinGames { get; init; } = 3;

    /// <summary>Most games a player plays before leaving.</summary>
    public int MaxGames { get; init; } = 5;

    /// <summary>Mean length of a game.</summary>
    public required TimeSpan MeanGame { get; init; }

    /// <summary>Half width of the uniform game length relative to its mean.</summary>
    public double GameSpread { get; init; } = 0.2;

    /// <summary>Idle players waiting for a game.</summary>
    public int EffectivePool => PoolOf(Pool, Players, GameSize);

    /// <summary>The idle players: <paramref name="pool"/>, or 1 % of the players if it is -1.</summary>
    public static int PoolOf(int pool, int players, int gameSize) => pool >= 0 ? pool : Math.Max(gameSize, players / 100);
}

/// <summary>One change of the communication graph.</summary>
/// <param name="At">Virtual time since the start.</param>
/// <param name="Kind">What happened.</param>
/// <param name="Game">The game that starts or ends; 0 for arrivals and departures.</param>
/// <param name="Players">The players concerned: all of the game, or the one that arrives or departs.</param>
public readonly record struct GameEvent(TimeSpan At, GameEventKind Kind, long Game, long[] Players);

/// <summary>What happened in the simulated community of players.</summary>
public enum GameEventKind
{
    /// <summary>A player entered the system and waits in the pool.</summary>
    Arrive,

    /// <summary>Players left the pool and joined a new game.</summary>
    StartGame,

    /// <summary>A game ended: its players left it.</summary>
    EndGame,

    /// <summary>A player left the system after the last of its games.</summary>
    Depart,
}
