using Npgsql;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Schema;

/// <summary>What waits for a transaction of a <see cref="StorePipeline{T}"/>.</summary>
/// <remarks>Owned by the queue, then by one lane, then by nobody. Answered exactly once, on the thread pool.</remarks>
internal abstract class PipelineItem
{
    /// <summary>When to give up repeating it; timestamp of the database's time.</summary>
    internal long GivenUpAt { get; init; }

    /// <summary>Whether the connection broke at least once while this was under way.</summary>
    internal bool MayBeDone { get; private set; }

    /// <summary>Whether its caller has the answer.</summary>
    internal abstract bool IsAnswered { get; }

    /// <summary>An attempt begins.</summary>
    internal virtual void NoteBegin()
    {
    }

    /// <summary>The attempt ended without an answer: it was done or not.</summary>
    internal virtual void NoteLost() => MayBeDone = true;
}

/// <summary>The way of small pieces of work into the database: those that are asked for at the same time go together.</summary>
/// <remarks>
/// <para>Owns the queue, by its derived class, and a few lanes (<see cref="Lanes{T}"/>). A lane has one connection; it takes what waits, up
/// to a limit, sends it as one round trip and one transaction, answers all callers when the transaction is committed, and goes on. So the
/// database flushes its log once for many, and a caller waits for at most the transaction before its own. A lane ends when nothing waits,
/// and gives its connection back.</para>
/// <para>Failures. Too many wait: the call fails at once. The database refuses the transaction because of one piece: its halves are
/// repeated, one after the other, down to the one that is refused; the others take some transactions more, not one each. Others are in its
/// way, or the database is away: it is sent again after a pause, until <see cref="RetryTime"/> has passed; then the pieces fail. The
/// connection breaks: nobody knows whether the transaction was committed, so each piece notes it (<see cref="PipelineItem.NoteLost"/>) and
/// is sent again. It hangs: the time of the last caller ends it. A lane throws: what it had taken fails, and it begins again.</para>
/// Any thread adds; callers are answered on the thread pool. <see cref="Gate"/> guards what the derived class keeps.
/// </remarks>
/// <typeparam name="T">The pieces.</typeparam>
internal abstract class StorePipeline<T>
    where T : PipelineItem
{
    private readonly int _mostWaiting;
    private readonly Lanes<T> _lanes;

    /// <param name="database">Where the pieces go.</param>
    /// <param name="lanes">Connections that are used at the same time.</param>
    /// <param name="mostWaiting">Pieces that the queue holds; further ones are refused.</param>
    protected StorePipeline(Database database, int lanes, int mostWaiting)
    {
        Database = database;
        _mostWaiting = mostWaiting;
        _lanes = new Lanes<T>(database, lanes, TakeNext, RunAsync, Fail, GiveBack);
    }

    /// <summary>For how long pieces are repeated while the database cannot be reached (<c>PostgresOptions.RetryTime</c>).</summary>
    internal TimeSpan RetryTime { get; init; } = TimeSpan.FromSeconds(20);

    /// <summary>Guards the queue.</summary>
    protected Lock Gate { get; } = new();

    /// <summary>Nothing is taken any more. Under the gate.</summary>
    protected bool HasEnded { get; set; }

    protected Database Database { get; }

    /// <summary>How many pieces count against the limit. Under the gate.</summary>
    protected abstract int Held { get; }

    /// <summary>What the pieces are, and the option that limits them: for the error when too many wait.</summary>
    protected abstract string Limit { get; }

    /// <summary>When a piece that is asked for now is given up.</summary>
    protected long GivenUpAt => Database.Time.GetTimestamp() + (long)(RetryTime.TotalSeconds * Database.Time.TimestampFrequency);

    /// <summary>Takes a piece into the queue. Under the gate. True if a lane could take something now.</summary>
    protected abstract bool Enqueue(T item);

    /// <summary>The pieces of the next transaction; none if nothing waits that a lane could take. Under the gate.</summary>
    protected abstract List<T> Dequeue();

    /// <summary>Sends them as one transaction and answers them when it is committed. Returns those that must be sent once more.</summary>
    /// <remarks>If it throws, those that have no answer are repeated or fail.</remarks>
    protected abstract Task<List<T>> SendAsync(
        NpgsqlConnection connection, List<T> together, bool isRepeat, CancellationToken cancellationToken);

    /// <summary>Answers one with a failure, if it has no answer yet.</summary>
    protected abstract void Fail(T item, Exception exception);

    /// <summary>What was taken is answered. Not under the gate.</summary>
    protected virtual void GiveBack(List<T> taken)
    {
    }

    /// <summary>Pieces are repeated in halves.</summary>
    protected virtual void NoteSplit(int count, Exception exception)
    {
    }

    /// <summary>Pieces of unknown outcome have failed.</summary>
    protected virtual void NoteUnknown(int count, Exception exception)
    {
    }

    /// <summary>Adds a piece, which is answered later.</summary>
    /// <exception cref="OrleansException">Too many wait.</exception>
    protected void Add(T item)
    {
        lock (Gate)
        {
            ObjectDisposedException.ThrowIf(HasEnded, this);
            if (Held >= _mostWaiting)
            {
                throw new OrleansException(
                    Database.Part + " has " + _mostWaiting + " waiting " + Limit + ": the database is too slow or gone.");
            }

            var isReady = Enqueue(item);
            Invariant.Holds(Held <= _mostWaiting);
            if (!isReady || !_lanes.TryEnter())
                return;
        }

        _lanes.Start();
    }

    /// <summary>Completes when nothing is under way any more, or after a time.</summary>
    protected async Task LanesEndAsync() => await _lanes.EndedAsync().WaitAsync(Database.LongestEnd, Database.Time)
        .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);

    /// <summary>The pieces of the next transaction; null if nothing waits: then the lane has ended.</summary>
    private List<T>? TakeNext()
    {
        lock (Gate)
        {
            var together = Dequeue();
            if (together.Count > 0)
                return together;
            _lanes.Leave();
            return null;
        }
    }

    /// <summary>Answers all. Returns the connection if it can be used again.</summary>
    private async Task<NpgsqlConnection?> RunAsync(NpgsqlConnection? connection, List<T> together)
    {
        for (var failures = 0; together.Count > 0; failures++)
        {
            foreach (var item in together)
                item.NoteBegin();
            try
            {
                using var limit = new CancellationTokenSource(
                    Database.Remaining(together.Max(static item => item.GivenUpAt)), Database.Time);
                connection ??= await Database.OpenAsync(limit.Token).ConfigureAwait(false);
                together = await SendAsync(connection, together, failures > 0, limit.Token).ConfigureAwait(false);
                Database.NoteReached();
                // What is left has found the outcome of an earlier attempt and goes on from there.
                continue;
            }
            catch (Exception exception)
            {
                if (connection is not null)
                    await Database.CloseAsync(connection).ConfigureAwait(false);
                connection = null;
                together.RemoveAll(static item => item.IsAnswered);
                var failure = Database.FailureOf(exception);
                if (failure == Failure.Refused && exception is PostgresException && together.Count > 1)
                    return await SplitAsync(together, exception).ConfigureAwait(false);
                together = Repeatable(together, exception, failure);
            }

            if (together.Count > 0)
                await Task.Delay(Database.PauseAfter(failures), Database.Time).ConfigureAwait(false);
        }

        return connection;
    }

    /// <summary>One of them was refused, and with it all: each half alone, in order.</summary>
    private async Task<NpgsqlConnection?> SplitAsync(List<T> together, Exception exception)
    {
        NoteSplit(together.Count, exception);
        var half = together.Count / 2;
        var connection = await RunAsync(null, together[..half]).ConfigureAwait(false);
        return await RunAsync(connection, together[half..]).ConfigureAwait(false);
    }

    /// <summary>Those that are tried again after a failure; the others have failed.</summary>
    private List<T> Repeatable(List<T> together, Exception exception, Failure failure)
    {
        var isLost = failure == Failure.Unknown;
        var now = Database.Time.GetTimestamp();
        List<T> again = [];
        foreach (var item in together)
        {
            if (isLost)
                item.NoteLost();
            if (failure != Failure.Refused && now < item.GivenUpAt)
                again.Add(item);
            else
                Fail(item, exception);
        }

        if (isLost && again.Count < together.Count)
            NoteUnknown(together.Count - again.Count, exception);
        return again;
    }
}
