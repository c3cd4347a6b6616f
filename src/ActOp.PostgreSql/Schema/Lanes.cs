namespace ActOp.PostgreSql.Schema;

/// <summary>A few loops that work off what waits, and end when nothing waits.</summary>
/// <remarks>
/// Owns the tasks of the loops. The number of loops is guarded by the lock of the owner: <see cref="TryEnter"/> and <see cref="Leave"/> are
/// called under it, together with the look at what waits, so nothing is left behind. A loop that throws has failed what it had taken; the
/// failure is logged (event 1293), and the loop begins again after a pause. <see cref="EndedAsync"/> waits for all that were started.
/// </remarks>
/// <param name="database">Whose log and time are used.</param>
/// <param name="most">Loops at the same time.</param>
/// <param name="work">One loop: it must call <see cref="Leave"/> when nothing waits, and return.</param>
internal sealed class Lanes(Database database, int most, Func<Task> work)
{
    private readonly List<Task> _started = [];
    private int _running;

    /// <summary>True if the caller must <see cref="Start"/> another loop, when it has left its lock.</summary>
    internal bool TryEnter()
    {
        if (_running == most)
            return false;
        _running++;
        return true;
    }

    internal void Leave() => _running--;

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
                await work().ConfigureAwait(false);
                return;
            }
            catch (Exception exception)
            {
                database.Log.LaneFailed(database.Part, exception);
            }

            await Task.Delay(database.PauseAfter(failures), database.Time).ConfigureAwait(false);
        }
    }
}
