namespace Orleans.Core;

/// <summary>A part of a grain's state that is kept by a storage provider. Used on turns of the grain only.</summary>
public interface IStorage
{
    /// <summary>The version of the record that the state was read from or written to; null when there is none.</summary>
    string? Etag { get; }

    /// <summary>Whether the storage had a record when it was last asked.</summary>
    bool RecordExists { get; }

    /// <summary>Removes the record; the state in memory becomes a new object.</summary>
    /// <exception cref="Storage.InconsistentStateException">The record was changed by somebody else.</exception>
    Task ClearStateAsync();

    /// <summary>As <see cref="ClearStateAsync()"/>.</summary>
    /// <param name="cancellationToken">Gives the operation up; whether it was done is then unknown.</param>
    Task ClearStateAsync(CancellationToken cancellationToken) => ClearStateAsync();

    /// <summary>Writes the state.</summary>
    /// <exception cref="Storage.InconsistentStateException">The record was changed by somebody else.</exception>
    Task WriteStateAsync();

    /// <summary>As <see cref="WriteStateAsync()"/>.</summary>
    /// <param name="cancellationToken">Gives the operation up; whether it was done is then unknown.</param>
    Task WriteStateAsync(CancellationToken cancellationToken) => WriteStateAsync();

    /// <summary>Reads the state anew; what is in memory is dropped.</summary>
    Task ReadStateAsync();

    /// <summary>As <see cref="ReadStateAsync()"/>.</summary>
    /// <param name="cancellationToken">Gives the operation up.</param>
    Task ReadStateAsync(CancellationToken cancellationToken) => ReadStateAsync();
}

/// <summary>As <see cref="IStorage"/>, with the state itself.</summary>
/// <typeparam name="TState">The type of the state.</typeparam>
public interface IStorage<TState> : IStorage
{
    /// <summary>The state in memory. A new object when the storage has no record.</summary>
    TState State { get; set; }
}
