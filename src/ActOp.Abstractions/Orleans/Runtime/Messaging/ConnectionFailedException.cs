namespace Orleans.Runtime.Messaging;

/// <summary>A connection could not be opened or broke.</summary>
public class ConnectionFailedException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public ConnectionFailedException()
        : base("The connection failed.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public ConnectionFailedException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public ConnectionFailedException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
