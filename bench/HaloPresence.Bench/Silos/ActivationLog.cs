using ActOp.Harness.Activations;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace HaloPresence.Bench.Silos;

/// <summary>What kind of grain a record of the journal speaks of.</summary>
public enum JournalKind : byte
{
    /// <summary>A player.</summary>
    Player = 1,

    /// <summary>A game.</summary>
    Game = 2,

    /// <summary>A grain that counts in PostgreSQL.</summary>
    PostgresLedger = 3,

    /// <summary>A grain that counts in files.</summary>
    FileLedger = 4,
}

/// <summary>
/// Follows what the grains of this silo log when they become active and inactive: knows which are active here, and writes it down if there
/// is a journal. Owns both; any thread.
/// </summary>
/// <param name="path">File of the journal; null for none.</param>
public sealed class ActivationLog(string? path) : ILoggerProvider
{
    private readonly ActivationJournal? _journal = path is null ? null : new ActivationJournal(path);
    private readonly Dictionary<long, List<long>>[] _grains =
        [.. Enum.GetValues<JournalKind>().Select(static _ => new Dictionary<long, List<long>>())];
    private readonly Lock _lock = new();
    private long _activations;

    /// <summary>The name of a kind in the journal.</summary>
    public static string NameOf(int kind) => ((JournalKind)kind).ToString();

    /// <summary>Has the grains of the application say what this object follows; the other loggers do not get to hear it.</summary>
    public void AddTo(ILoggingBuilder logging) => logging.AddProvider(this).AddFilter<ActivationLog>(nameof(HaloPresence), LogLevel.Debug);

    /// <summary>Whether a player is active here.</summary>
    public bool HasPlayer(long player)
    {
        lock (_lock)
            return GrainsOf(JournalKind.Player).ContainsKey(player);
    }

    /// <summary>At most so many of the games that are active here, drawn at random.</summary>
    public long[] PickGames(Random random, int most)
    {
        lock (_lock)
        {
            long[] games = [.. GrainsOf(JournalKind.Game).Keys];
            random.Shuffle(games);
            return games[..Math.Min(most, games.Length)];
        }
    }

    /// <inheritdoc/>
    public ILogger CreateLogger(string categoryName) => categoryName switch
    {
        "HaloPresence.PlayerGrain" => new Follower(this, JournalKind.Player),
        "HaloPresence.GameGrain" => new Follower(this, JournalKind.Game),
        "HaloPresence.Bench.States.PostgresLedger" => new Follower(this, JournalKind.PostgresLedger),
        "HaloPresence.Bench.States.FileLedger" => new Follower(this, JournalKind.FileLedger),
        _ => NullLogger.Instance,
    };

    /// <inheritdoc/>
    public void Dispose() => _journal?.Dispose();

    private Dictionary<long, List<long>> GrainsOf(JournalKind kind) => _grains[(int)kind - 1];

    private void Begin(JournalKind kind, long key)
    {
        lock (_lock)
        {
            var grains = GrainsOf(kind);
            if (!grains.TryGetValue(key, out var open))
                grains.Add(key, open = []);
            open.Add(++_activations);
            _journal?.Write((int)kind, begins: true, _activations, key);
        }
    }

    private void End(JournalKind kind, long key)
    {
        lock (_lock)
        {
            var grains = GrainsOf(kind);
            if (!grains.TryGetValue(key, out var open))
                return;
            _journal?.Write((int)kind, begins: false, open[0], key);
            open.RemoveAt(0);
            if (open.Count == 0)
                grains.Remove(key);
        }
    }

    private sealed class Follower(ActivationLog log, JournalKind kind) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (state is not IReadOnlyList<KeyValuePair<string, object?>> values
                || values.FirstOrDefault(pair => pair.Key == "Key").Value is not long key)
            {
                return;
            }

            if (eventId == HaloEvents.Activated)
                log.Begin(kind, key);
            else if (eventId == HaloEvents.Deactivated)
                log.End(kind, key);
        }
    }
}
