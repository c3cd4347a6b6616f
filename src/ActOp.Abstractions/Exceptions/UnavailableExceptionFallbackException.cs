namespace Orleans.Serialization;

/// <summary>Stands for an exception of a type that this process does not know.</summary>
public sealed class UnavailableExceptionFallbackException : Exception
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public UnavailableExceptionFallbackException()
        : base("An exception of a type that is not available here was thrown.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public UnavailableExceptionFallbackException(string message, Exception innerException)
        : base(message, innerException)
    {
    }

    /// <summary>The name of the original type, or null.</summary>
    public string? ExceptionType { get; internal set; }

    /// <summary>What else was sent of the original exception, by name.</summary>
    public Dictionary<string, object?> Properties { get; } = [];

    /// <inheritdoc/>
    public override string ToString() => "Unknown exception of type " + ExceptionType + ": " + base.ToString();
}
