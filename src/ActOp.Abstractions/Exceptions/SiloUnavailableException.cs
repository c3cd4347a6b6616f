namespace Orleans.Runtime;

/// <summary>The silo that was to run a call, or ran it, is gone or cannot be reached. The call may have run.</summary>
public sealed class SiloUnavailableException : OrleansMessageRejectionException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public SiloUnavailableException()
        : base("The silo is not available.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public SiloUnavailableException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public SiloUnavailableException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
