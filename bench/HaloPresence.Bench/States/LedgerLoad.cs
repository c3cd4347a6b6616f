using System.Collections.Concurrent;
using ActOp.Harness.Load;

namespace HaloPresence.Bench.States;

/// <summary>How a request to a ledger went.</summary>
/// <param name="Files">Whether the ledger counts in files.</param>
/// <param name="From">When it was sent, monotonic.</param>
/// <param name="To">When it was answered or failed.</param>
/// <param name="Error">The type of the exception, and of the one inside; null for an answer.</param>
/// <param name="Text">The exception's message.</param>
public readonly record struct LedgerAnswer(bool Files, TimeSpan From, TimeSpan To, string? Error, string? Text);

/// <summary>What the ledgers must not have done.</summary>
/// <param name="Acknowledged">Writes that were acknowledged.</param>
/// <param name="Lost">Acknowledged values that a later answer did not have.</param>
/// <param name="Twice">Values that were acknowledged twice.</param>
/// <param name="Interleaved">Times that an activation had a write acknowledged after a newer activation had.</param>
/// <param name="Texts">The first few of these.</param>
public sealed record LedgerVerdict(long Acknowledged, long Lost, long Twice, long Interleaved, IReadOnlyList<string> Texts);

/// <summary>
/// Adds to random ledgers at an open-loop Poisson rate, and keeps the books: what was acknowledged, and by which activation.
/// </summary>
/// <remarks>Sends on one thread; answers come on any.</remarks>
/// <param name="find">The ledger of a number, in files or in PostgreSQL.</param>
/// <param name="ledgers">Ledgers of each kind.</param>
/// <param name="rate">Requests per second.</param>
/// <param name="seed">Of the random choices.</param>
/// <param name="clock">The time.</param>
public sealed class LedgerLoad(Func<bool, int, ILedger> find, int ledgers, double rate, int seed, IClock clock)
{
    private const int MaxTexts = 5;
    private const int MostOutstanding = 50_000;
    private const int ReloadsAtOnce = 64;
    private readonly Book[] _books = [.. Enumerable.Range(0, 2 * ledgers).Select(i => new Book(find, i))];
    private readonly ConcurrentQueue<LedgerAnswer> _answers = new();
    private readonly ConcurrentQueue<string> _lost = new();
    private readonly Random _picks = new(seed);
    private long _outstanding;
    private volatile bool _ended;

    /// <summary>Requests in flight.</summary>
    public long Outstanding => Volatile.Read(ref _outstanding);

    /// <summary>Sends until <see cref="End"/>, on the calling thread.</summary>
    public void Run(CancellationToken cancellation)
    {
        var arrivals = new PoissonArrivals(rate, clock.Now, seed);
        while (!_ended)
        {
            cancellation.ThrowIfCancellationRequested();
            for (; arrivals.Next <= clock.Now; arrivals.Pass())
                _ = AddAsync(_picks.Next(_books.Length));
            clock.WaitUntil(arrivals.Next);
        }
    }

    /// <summary>Ends <see cref="Run"/>.</summary>
    public void End() => _ended = true;

    /// <summary>Adds to one of them; never fails.</summary>
    public async Task AddAsync(int ledger)
    {
        var book = _books[ledger];
        if (Outstanding > MostOutstanding)
        {
            _answers.Enqueue(
                new LedgerAnswer(book.Files, clock.Now, clock.Now, "Rejected", $"more than {MostOutstanding} requests in flight"));
        }
        else
        {
            await AskAsync(book, reload: false).ConfigureAwait(false);
        }
    }

    /// <summary>Takes the answers noted since the last time.</summary>
    public List<LedgerAnswer> Take()
    {
        var taken = new List<LedgerAnswer>();
        while (_answers.TryDequeue(out var answer))
            taken.Add(answer);
        return taken;
    }

    /// <summary>Has every ledger read its record; returns how many did. Those that fail are among the answers.</summary>
    public async Task<int> ReloadAllAsync(CancellationToken cancellation)
    {
        var read = 0;
        var parallel = new ParallelOptions { MaxDegreeOfParallelism = ReloadsAtOnce, CancellationToken = cancellation };
        await Parallel.ForEachAsync(_books, parallel, async (book, _) =>
        {
            if (await AskAsync(book, reload: true).ConfigureAwait(false))
                Interlocked.Increment(ref read);
        }).ConfigureAwait(false);
        return read;
    }

    /// <summary>The number of ledgers.</summary>
    public int Count => _books.Length;

    /// <summary>Reads the books, when nothing is in flight any more.</summary>
    public LedgerVerdict Judge()
    {
        long acknowledged = 0, twice = 0, interleaved = 0;
        var texts = _lost.Take(MaxTexts).ToList();
        foreach (var book in _books)
        {
            var seen = new HashSet<string>();
            LedgerEntry? last = null;
            foreach (var entry in book.Entries.OrderBy(static entry => entry.Value))
            {
                acknowledged++;
                if (entry.Value == last?.Value)
                {
                    twice++;
                    texts.Add($"{book.Name}: {entry.Value} was acknowledged twice");
                }
                if (entry.Activation != last?.Activation && !seen.Add(entry.Activation))
                {
                    interleaved++;
                    texts.Add(
                        $"{book.Name}: {entry.Activation} wrote {entry.Value} after {last?.Activation}, which is newer, wrote {last?.Value}");
                }
                last = entry;
            }
        }
        return new LedgerVerdict(acknowledged, _lost.Count, twice, interleaved, [.. texts.Take(MaxTexts)]);
    }

    private async Task<bool> AskAsync(Book book, bool reload)
    {
        Interlocked.Increment(ref _outstanding);
        var from = clock.Now;
        var floor = book.Highest;
        try
        {
            var entry = await (reload ? book.Grain.Reload() : book.Grain.Add()).ConfigureAwait(false);
            if (entry.Value < floor || (!reload && entry.Value == floor))
                _lost.Enqueue($"{book.Name}: {floor} was acknowledged, but a later {(reload ? "read" : "write")} had {entry.Value}");
            if (!reload)
                book.Note(entry);
            _answers.Enqueue(new LedgerAnswer(book.Files, from, clock.Now, null, null));
            return true;
        }
        catch (Exception error)
        {
            var type = error.GetType().Name + (error.InnerException is { } inner ? "(" + inner.GetType().Name + ")" : "");
            _answers.Enqueue(new LedgerAnswer(book.Files, from, clock.Now, type, $"{book.Name}: {error.Message}"));
            return false;
        }
        finally
        {
            Interlocked.Decrement(ref _outstanding);
        }
    }

    /// <summary>What is known of one ledger.</summary>
    private sealed class Book(Func<bool, int, ILedger> find, int number)
    {
        private readonly List<LedgerEntry> _entries = [];
        private long _highest;

        internal bool Files => number % 2 == 1;

        internal string Name => (Files ? "file ledger " : "PostgreSQL ledger ") + (number / 2);

        internal ILedger Grain => find(Files, number / 2);

        /// <summary>The highest value that was acknowledged.</summary>
        internal long Highest => Volatile.Read(ref _highest);

        internal IReadOnlyList<LedgerEntry> Entries => _entries;

        internal void Note(LedgerEntry entry)
        {
            lock (_entries)
            {
                _entries.Add(entry);
                _highest = Math.Max(_highest, entry.Value);
            }
        }
    }
}
