namespace ActOp.PostgreSql.Storage;

/// <summary>What is done with one state.</summary>
internal enum StateWork
{
    /// <summary>Read version and data.</summary>
    Read,

    /// <summary>Write data; without data the record stays, empty.</summary>
    Write,

    /// <summary>Remove the record.</summary>
    Delete,
}

/// <summary>Whose state: a row of actop_state in one service.</summary>
internal readonly record struct StateKey(string Name, string Grain);

/// <summary>How an operation ended.</summary>
/// <param name="IsConflict">The record has another version than the operation expected; nothing was changed.</param>
/// <param name="Version">The version of the record now, or that it has in a conflict; null if there is none.</param>
/// <param name="Data">Read: the data; null if there are none.</param>
internal readonly record struct StateOutcome(bool IsConflict, long? Version, byte[]? Data = null);

/// <summary>One read, write or removal of a state, from the caller to the lane that does it.</summary>
/// <remarks>
/// Owned by the queue, then by one lane, then by nobody. Completed exactly once, on the thread pool. A write chooses its version itself, a
/// number that no other write has. So if the connection breaks in the middle, the same write may be sent again: the record has the version
/// from before, or the one of this write, or another one, and each says what has happened.
/// </remarks>
internal sealed class StoreOperation(StateWork work, StateKey key, long? expected, byte[]? data, long version, long? doubt)
{
    private readonly TaskCompletionSource<StateOutcome> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal StateWork Work => work;

    internal StateKey Key => key;

    /// <summary>The version that the record must have; null if there must be none.</summary>
    internal long? Expected { get; set; } = expected;

    /// <summary>
    /// Another version that it may have: of an earlier write from the same version, of which nobody knows whether it was done.
    /// </summary>
    internal long? Doubt => doubt;

    internal byte[]? Data => data;

    /// <summary>The version of the record after this write.</summary>
    internal long Version => version;

    /// <summary>Whether the connection broke at least once while this was under way.</summary>
    internal bool MayBeDone { get; set; }

    /// <summary>
    /// The process of the server that may still do an earlier attempt to make the record; 0 if there is none. It must have ended before the
    /// record is written again: otherwise the attempt could make the record anew after it was removed.
    /// </summary>
    internal int LostSession { get; set; }

    /// <summary>When to give up repeating it; timestamp of the database's time.</summary>
    internal long GivenUpAt { get; init; }

    internal Task<StateOutcome> Ended => _ended.Task;

    /// <summary>Whether it writes rows: what must have a version.</summary>
    internal bool IsInsert => Work == StateWork.Write && Expected is null && data is not null;

    /// <summary>Whether it changes a row that is there.</summary>
    internal bool IsUpdate => Work == StateWork.Write && Expected is not null;

    internal bool IsDelete => Work == StateWork.Delete && Expected is not null;

    internal void Done(long? newVersion) => _ended.TrySetResult(new StateOutcome(false, newVersion));

    internal void Found(long? foundVersion, byte[]? found) => _ended.TrySetResult(new StateOutcome(false, foundVersion, found));

    internal void Conflict(long? stored) => _ended.TrySetResult(new StateOutcome(true, stored));

    internal void Fail(Exception exception) => _ended.TrySetException(exception);
}
