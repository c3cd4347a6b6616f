namespace Orleans.Streams;

/// <summary>Where a subscription begins that has no position.</summary>
public enum StreamSubscriptionStartPosition
{
    /// <summary>With the items that are added from now on.</summary>
    Latest = 0,

    /// <summary>
    /// With the oldest item of the stream that the cache of its queue still has, or with the next one if it has none.
    /// </summary>
    EarliestAvailable = 1,
}

/// <summary>An observable that can begin elsewhere than at the end.</summary>
internal interface IPositionedObservable<T>
{
    Task<StreamSubscriptionHandle<T>> SubscribeAsync(
        IAsyncObserver<T>? observer, IAsyncBatchObserver<T>? batchObserver, StreamSubscriptionStartPosition startPosition,
        string? filterData);
}

/// <summary>What a cache has said when it was asked for a cursor.</summary>
public enum QueueCacheCursorResultKind
{
    /// <summary>Nothing: it is not initialized.</summary>
    Invalid = 0,

    /// <summary>There is a cursor.</summary>
    Success = 1,

    /// <summary>The position has left the cache.</summary>
    CacheMiss = 2,

    /// <summary>The cache has no such places.</summary>
    NotSupported = 3,
}

/// <summary>What a cursor has found when it was to move.</summary>
public enum QueueCacheCursorMoveResultKind
{
    /// <summary>Nothing: it is not initialized.</summary>
    Invalid = 0,

    /// <summary>A message.</summary>
    Success = 1,

    /// <summary>No message yet.</summary>
    NoData = 2,

    /// <summary>Its message has left the cache.</summary>
    CacheMiss = 3,
}

/// <summary>A position that a cache has not, and what it has. Immutable.</summary>
public readonly struct QueueCacheMissInfo : IEquatable<QueueCacheMissInfo>
{
    /// <summary>Sets what is known as text.</summary>
    public QueueCacheMissInfo(string? requested, string? low, string? high) => (Requested, Low, High) = (requested, low, high);

    /// <summary>Sets the positions.</summary>
    public QueueCacheMissInfo(StreamSequenceToken? requested, StreamSequenceToken? low, StreamSequenceToken? high)
        : this(requested?.ToString(), low?.ToString(), high?.ToString()) =>
        (RequestedToken, LowToken, HighToken) = (requested, low, high);

    /// <summary>The position that was asked for.</summary>
    public string? Requested { get; }

    /// <summary>The oldest one in the cache.</summary>
    public string? Low { get; }

    /// <summary>The newest one in the cache.</summary>
    public string? High { get; }

    /// <summary>The position that was asked for, if it is known.</summary>
    public StreamSequenceToken? RequestedToken { get; }

    /// <summary>The oldest one in the cache, if it is known.</summary>
    public StreamSequenceToken? LowToken { get; }

    /// <summary>The newest one in the cache, if it is known.</summary>
    public StreamSequenceToken? HighToken { get; }

    /// <summary>The exception that says so.</summary>
    public QueueCacheMissException ToException() => new(Requested, Low, High);

    /// <inheritdoc/>
    public bool Equals(QueueCacheMissInfo other) => (Requested, Low, High) == (other.Requested, other.Low, other.High)
        && Equals(RequestedToken, other.RequestedToken) && Equals(LowToken, other.LowToken) && Equals(HighToken, other.HighToken);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is QueueCacheMissInfo other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(Requested, Low, High);

    /// <summary>Whether both say the same.</summary>
    public static bool operator ==(QueueCacheMissInfo left, QueueCacheMissInfo right) => left.Equals(right);

    /// <summary>Whether they differ.</summary>
    public static bool operator !=(QueueCacheMissInfo left, QueueCacheMissInfo right) => !left.Equals(right);
}

/// <summary>A cursor, or why there is none. Immutable.</summary>
/// <typeparam name="TCursor">The cursor.</typeparam>
public readonly struct QueueCacheCursorResult<TCursor> : IEquatable<QueueCacheCursorResult<TCursor>>
    where TCursor : class, IQueueCacheCursor
{
    private QueueCacheCursorResult(QueueCacheCursorResultKind kind, TCursor? cursor, QueueCacheMissInfo? miss) =>
        (Kind, Cursor, CacheMiss) = (kind, cursor, miss);

    /// <summary>The cache has no such places.</summary>
    public static QueueCacheCursorResult<TCursor> NotSupported => new(QueueCacheCursorResultKind.NotSupported, null, null);

    /// <summary>What it is.</summary>
    public QueueCacheCursorResultKind Kind { get; }

    /// <summary>The cursor, or null.</summary>
    public TCursor? Cursor { get; }

    /// <summary>What the cache has instead of the position; null unless that is the result.</summary>
    public QueueCacheMissInfo? CacheMiss { get; }

    /// <summary>There is a cursor.</summary>
    /// <exception cref="ArgumentNullException">It is null.</exception>
    public static QueueCacheCursorResult<TCursor> FromCursor(TCursor cursor)
    {
        ArgumentNullException.ThrowIfNull(cursor);
        return new(QueueCacheCursorResultKind.Success, cursor, null);
    }

    /// <summary>The position has left the cache.</summary>
    public static QueueCacheCursorResult<TCursor> FromCacheMiss(QueueCacheMissInfo cacheMiss) =>
        new(QueueCacheCursorResultKind.CacheMiss, null, cacheMiss);

    /// <inheritdoc/>
    public bool Equals(QueueCacheCursorResult<TCursor> other) =>
        Kind == other.Kind && Equals(Cursor, other.Cursor) && CacheMiss == other.CacheMiss;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is QueueCacheCursorResult<TCursor> other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(Kind, Cursor, CacheMiss);

    /// <summary>Whether both say the same.</summary>
    public static bool operator ==(QueueCacheCursorResult<TCursor> left, QueueCacheCursorResult<TCursor> right) => left.Equals(right);

    /// <summary>Whether they differ.</summary>
    public static bool operator !=(QueueCacheCursorResult<TCursor> left, QueueCacheCursorResult<TCursor> right) => !left.Equals(right);
}

/// <summary>Whether a cursor is at a message, or why not. Immutable.</summary>
public readonly struct QueueCacheCursorMoveResult : IEquatable<QueueCacheCursorMoveResult>
{
    private QueueCacheCursorMoveResult(QueueCacheCursorMoveResultKind kind, QueueCacheMissInfo? miss) => (Kind, CacheMiss) = (kind, miss);

    /// <summary>The cursor is at a message.</summary>
    public static QueueCacheCursorMoveResult Success => new(QueueCacheCursorMoveResultKind.Success, null);

    /// <summary>There is no message yet.</summary>
    public static QueueCacheCursorMoveResult NoData => new(QueueCacheCursorMoveResultKind.NoData, null);

    /// <summary>What it is.</summary>
    public QueueCacheCursorMoveResultKind Kind { get; }

    /// <summary>What the cache has instead of the message; null unless that is the result.</summary>
    public QueueCacheMissInfo? CacheMiss { get; }

    /// <summary>The message has left the cache.</summary>
    public static QueueCacheCursorMoveResult FromCacheMiss(QueueCacheMissInfo cacheMiss) =>
        new(QueueCacheCursorMoveResultKind.CacheMiss, cacheMiss);

    /// <inheritdoc/>
    public bool Equals(QueueCacheCursorMoveResult other) => Kind == other.Kind && CacheMiss == other.CacheMiss;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is QueueCacheCursorMoveResult other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(Kind, CacheMiss);

    /// <summary>Whether both say the same.</summary>
    public static bool operator ==(QueueCacheCursorMoveResult left, QueueCacheCursorMoveResult right) => left.Equals(right);

    /// <summary>Whether they differ.</summary>
    public static bool operator !=(QueueCacheCursorMoveResult left, QueueCacheCursorMoveResult right) => !left.Equals(right);
}
