namespace Orleans.Serialization;

/// <summary>A value could not be written, read or copied.</summary>
public class SerializerException : Exception
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public SerializerException()
        : base("The value could not be serialized.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public SerializerException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public SerializerException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

/// <summary>There is no codec for a type: it has neither a built-in nor a generated one.</summary>
public sealed class CodecNotFoundException : SerializerException
{
    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public CodecNotFoundException(string message)
        : base(message)
    {
    }
}

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
