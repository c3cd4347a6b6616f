using Npgsql;

namespace ActOp.PostgreSql.Schema;

/// <summary>A few loops that work off what waits, each with a connection of its own, and end when nothing waits.</summary>
/// <remarks>
/// Owns the tasks of the loops, and their connections. The number of loops is guarded by the lock of the owner: <see cref="TryEnter"/> and
/// <see cref="Leave"/> are called under it, together with the look at what waits, so nothing is left behind. If the work throws, all that
/// it had taken fails, the failure is logged (event 1293), and the loop begins again after a pause. <see cref="EndedAsync"/> waits for all
/// that were started.
/// </remarks>
/// <typeparam name="T">What waits.</typeparam>
/// <param name="database">Whose log and time are used.</param>
/// <param name="most">Loops at the same time.</param>
/// <param name="take">What is done next, together; null after a call of <see cref="Leave"/>, if nothing waits.</param>
/// <param name="run">
/// Does it and answers each; the list is its own. It has the connection, null for none yet, and returns it if it can be used again.
/// </param>
/// <param name="fail">Answers one that was taken, if it is not answered yet.</param>
/// <param name="giveBack">What was taken is answered.</param>
internal sealed class Lanes<T>(
    Database database,
    int most,
    Func<List<T>?> take,
    Func<NpgsqlConnection?, List<T>, Task<NpgsqlConnection?>> run,
    Action<T, Exception> fail,
    Action<List<T>>? giveBack = null)
{
    private readonly List<Task> _started = [];
    private int _running;

    /// <summary>True if the caller must <see cref="Start"/> another loop, when it has left its lock.</summary>
    internal bool TryEnter()
    {
        Invariant.Holds(_running >= 0 && _running <= most);
        if (_running == most)
            return false;
        _running++;
        return true;
    }

    internal void Leave()
    {
        Invariant.Holds(_running > 0);
        _running--;
    }

    /// <summary>Starts a loop, which works for all: it has no call context of the first caller.</summary>
    internal void Start()
    {
        Task lane;
        using (ExecutionContext.SuppressFlow())
            lane = SuperviseAsync();
        lock (_started)
        {
            _started.RemoveAll(static one => one.IsCompleted);
            _started.Add(lane);
        }
    }

    /// <summary>Completes when the loops that were started have ended.</summary>
    internal Task EndedAsync()
    {
        lock (_started)
            return Task.WhenAll(_started);
    }

    private async Task SuperviseAsync()
    {
        // The caller goes on at once, and others who call at the same time get into the same transaction.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        for (var failures = 0; ; failures++)
        {
            try
            {
                await WorkAsync().ConfigureAwait(false);
                return;
            }
            catch (Exception exception)
            {
                database.Log.LaneFailed(database.Part, exception);
            }

            await Task.Delay(database.PauseAfter(failures), database.Time).ConfigureAwait(false);
        }
    }

    private async Task WorkAsync()
    {
        NpgsqlConnection? connection = null;
        try
        {
            while (take() is { } together)
            {
                try
                {
                    connection = await run(connection, [.. together]).ConfigureAwait(false);
                }
                catch (Exception exception)
                {
                    foreach (var one in together)
                        fail(one, exception);
                    throw;
                }
                finally
                {
                    giveBack?.Invoke(together);
                }
            }
        }
        finally
        {
            if (connection is not null)
                await Database.CloseAsync(connection).ConfigureAwait(false);
        }
    }
}
