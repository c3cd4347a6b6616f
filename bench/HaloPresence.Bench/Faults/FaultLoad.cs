using System.Collections.Concurrent;
using ActOp.Harness.Load;
using HaloPresence.Bench.Load;

namespace HaloPresence.Bench.Faults;

/// <summary>
/// Asks random players for their status at an open-loop Poisson rate and notes every answer. Games are fixed. Players and games keep their
/// state in memory only, so it is lost with their silo; whenever an answer shows that somebody has forgotten the game, the game is started
/// again, as a matchmaking service that owns the truth would do it.
/// </summary>
public sealed class FaultLoad(FaultOptions options, ILoadTarget target, IClock clock)
{
    private const int TellsAtOnce = 64;
    private readonly int _size = options.Halo.GameSize;
    private readonly ConcurrentQueue<Answer> _answers = new();
    private readonly ConcurrentDictionary<long, bool> _telling = new();
    private readonly Random _picks = new(options.Halo.Seed + 1);
    private long _outstanding;
    private long _told;
    private volatile bool _ended;

    /// <summary>Players: whole games only.</summary>
    public long Players => (long)Games * _size;

    /// <summary>Requests in flight.</summary>
    public long Outstanding => Volatile.Read(ref _outstanding);

    /// <summary>Games that were told again.</summary>
    public long Told => Volatile.Read(ref _told);

    private int Games => options.Halo.Players / _size;

    /// <summary>Starts all games.</summary>
    public async Task SetUpAsync(CancellationToken cancellation)
    {
        var parallel = new ParallelOptions { MaxDegreeOfParallelism = TellsAtOnce, CancellationToken = cancellation };
        await Parallel.ForAsync(1, Games + 1, parallel, async (game, _) => await Start(game)).ConfigureAwait(false);
    }

    /// <summary>Sends until <see cref="End"/>, on the calling thread.</summary>
    public void Run(CancellationToken cancellation)
    {
        var arrivals = new PoissonArrivals(options.Halo.Rate, clock.Now, options.Halo.Seed + 2);
        while (!_ended)
        {
            cancellation.ThrowIfCancellationRequested();
            for (; arrivals.Next <= clock.Now; arrivals.Pass())
                Send();
            clock.WaitUntil(arrivals.Next);
        }
    }

    /// <summary>Ends <see cref="Run"/>.</summary>
    public void End() => _ended = true;

    /// <summary>Takes the answers noted since the last time.</summary>
    public List<Answer> Take()
    {
        var taken = new List<Answer>();
        while (_answers.TryDequeue(out var answer))
            taken.Add(answer);
        return taken;
    }

    /// <summary>Asks every player once; returns those that did not answer, with the reason.</summary>
    public async Task<List<string>> AskEveryoneAsync(CancellationToken cancellation)
    {
        var silent = new ConcurrentQueue<string>();
        var parallel = new ParallelOptions { MaxDegreeOfParallelism = TellsAtOnce, CancellationToken = cancellation };
        await Parallel.ForAsync(1, Players + 1, parallel, async (player, _) =>
        {
            try
            {
                await target.RequestStatus(player);
            }
            catch (Exception error)
            {
                silent.Enqueue($"player {player}: {error.GetType().Name}: {error.Message}");
            }
        }).ConfigureAwait(false);
        return [.. silent];
    }

    private void Send()
    {
        if (Interlocked.Increment(ref _outstanding) > options.Halo.MaxOutstanding)
        {
            Interlocked.Decrement(ref _outstanding);
            _answers.Enqueue(
                new Answer(clock.Now, clock.Now, 0, "Rejected", $"more than {options.Halo.MaxOutstanding} requests in flight"));
            return;
        }
        _ = Request(1 + _picks.NextInt64(Players));
    }

    private async Task Request(long player)
    {
        var from = clock.Now;
        try
        {
            var messages = await target.RequestStatus(player).ConfigureAwait(false);
            _answers.Enqueue(new Answer(from, clock.Now, messages, null, null));
            if (messages < options.Halo.MessagesPerRequest)
                await TellAgain(1 + (player - 1) / _size).ConfigureAwait(false);
        }
        catch (Exception error)
        {
            _answers.Enqueue(new Answer(from, clock.Now, 0, error.GetType().Name, error.Message));
        }
        finally
        {
            Interlocked.Decrement(ref _outstanding);
        }
    }

    private async Task TellAgain(long game)
    {
        if (!_telling.TryAdd(game, true))
            return;
        var from = clock.Now;
        try
        {
            await Start(game).ConfigureAwait(false);
            Interlocked.Increment(ref _told);
        }
        catch (Exception error)
        {
            _answers.Enqueue(new Answer(from, clock.Now, 0, error.GetType().Name, "start of a game: " + error.Message));
        }
        finally
        {
            _telling.TryRemove(game, out _);
        }
    }

    private ValueTask Start(long game)
    {
        var players = new long[_size];
        for (var i = 0; i < players.Length; i++)
            players[i] = 1 + (game - 1) * _size + i;
        return target.StartGame(game, players);
    }
}
