namespace Orleans;

/// <summary>What a storage provider reads and writes: a state with its version.</summary>
/// <typeparam name="T">The type of the state.</typeparam>
public interface IGrainState<T>
{
    /// <summary>The state.</summary>
    T? State { get; set; }

    /// <summary>The version of the record; null when there is none. Set by the provider.</summary>
    string? ETag { get; set; }

    /// <summary>Whether there is a record. Set by the provider.</summary>
    bool RecordExists { get; set; }
}

/// <summary>The plain form of <see cref="IGrainState{T}"/>.</summary>
/// <typeparam name="T">The type of the state.</typeparam>
public sealed class GrainState<T> : IGrainState<T>
{
    /// <summary>No state.</summary>
    public GrainState()
    {
    }

    /// <summary>A state without a version.</summary>
    public GrainState(T? state)
        : this(state, null)
    {
    }

    /// <summary>A state with its version.</summary>
    public GrainState(T? state, string? eTag)
    {
        State = state;
        ETag = eTag;
    }

    /// <inheritdoc/>
    public T? State { get; set; }

    /// <inheritdoc/>
    public string? ETag { get; set; }

    /// <inheritdoc/>
    public bool RecordExists { get; set; }
}
