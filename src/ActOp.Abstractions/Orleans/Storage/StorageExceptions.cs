using Orleans.Runtime;

namespace Orleans.Storage;

/// <summary>A state was not written because its record has another version than the one that the writer knows.</summary>
/// <remarks>
/// When it leaves the activation that has thrown it first, that activation ends. The versions are kept in <see cref="Exception.Data"/>,
/// which travels with every exception.
/// </remarks>
public class InconsistentStateException : OrleansException
{
    private const string StoredKey = "StoredEtag";
    private const string CurrentKey = "CurrentEtag";

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
        if (storedEtag is not null)
            Data[StoredKey] = storedEtag;
        if (currentEtag is not null)
            Data[CurrentKey] = currentEtag;
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
    public string? StoredEtag => Data[StoredKey] as string;

    /// <summary>The version that the writer knows.</summary>
    public string? CurrentEtag => Data[CurrentKey] as string;

    /// <summary>
    /// False once it has left an activation, and in every other process: a constructor sets it, reading a message runs none.
    /// </summary>
    internal bool IsAtOrigin { get; private set; } = true;

    /// <summary>True for the first activation that it leaves.</summary>
    internal bool TryLeaveOrigin()
    {
        var isFirst = IsAtOrigin;
        IsAtOrigin = false;
        return isFirst;
    }

    /// <inheritdoc/>
    public override string ToString() =>
        base.ToString() + Environment.NewLine + "Stored ETag: " + (StoredEtag ?? "none") + ", ETag of the writer: "
            + (CurrentEtag ?? "none");
}

/// <summary>A grain uses a storage provider that does not exist or cannot be used.</summary>
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
