using Orleans.Runtime;

namespace Orleans.Storage;

/// <summary>A state was not written because its record has another version than the one that the writer knows.</summary>
/// <remarks>When it leaves the activation whose storage has thrown it, that activation ends.</remarks>
[GenerateSerializer]
public class InconsistentStateException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public InconsistentStateException()
        : base("The state in the storage is not the one that the grain knows.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public InconsistentStateException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public InconsistentStateException(string message, Exception? innerException)
        : base(message, innerException!)
    {
    }

    /// <summary>Creates the exception with both versions.</summary>
    /// <param name="errorMsg">The message.</param>
    /// <param name="storedEtag">The version in the storage.</param>
    /// <param name="currentEtag">The version that the writer knows.</param>
    public InconsistentStateException(string errorMsg, string? storedEtag, string? currentEtag)
        : this(errorMsg, storedEtag, currentEtag, null)
    {
    }

    /// <summary>Creates the exception with both versions and its cause.</summary>
    /// <param name="errorMsg">The message.</param>
    /// <param name="storedEtag">The version in the storage.</param>
    /// <param name="currentEtag">The version that the writer knows.</param>
    /// <param name="storageException">The error of the storage.</param>
    public InconsistentStateException(string errorMsg, string? storedEtag, string? currentEtag, Exception? storageException)
        : base(errorMsg, storageException!)
    {
        StoredEtag = storedEtag;
        CurrentEtag = currentEtag;
    }

    /// <summary>Creates the exception with both versions and the message of its cause.</summary>
    /// <param name="storedEtag">The version in the storage.</param>
    /// <param name="currentEtag">The version that the writer knows.</param>
    /// <param name="storageException">The error of the storage.</param>
    public InconsistentStateException(string? storedEtag, string? currentEtag, Exception storageException)
        : this(storageException?.Message ?? "", storedEtag, currentEtag, storageException)
    {
    }

    /// <summary>The version in the storage, if it is known.</summary>
    [Id(0)]
    public string? StoredEtag { get; private set; }

    /// <summary>The version that the writer knows.</summary>
    [Id(1)]
    public string? CurrentEtag { get; private set; }

    /// <inheritdoc/>
    public override string ToString() =>
        base.ToString() + Environment.NewLine + "Stored ETag: " + (StoredEtag ?? "none") + ", ETag of the writer: " + (CurrentEtag ?? "none");
}

/// <summary>A grain uses a storage provider that does not exist or cannot be used.</summary>
[GenerateSerializer]
public sealed class BadProviderConfigException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public BadProviderConfigException()
        : base("The provider is missing or its configuration is wrong.")
    {
    }

    /// <summary>Creates the exception with <paramref name="msg"/>.</summary>
    public BadProviderConfigException(string msg)
        : base(msg)
    {
    }

    /// <summary>Creates the exception with <paramref name="msg"/> and its cause.</summary>
    public BadProviderConfigException(string msg, Exception exc)
        : base(msg, exc)
    {
    }
}
