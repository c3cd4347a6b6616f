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

/// <summary>Versions of the protocol between nodes.</summary>
public enum NetworkProtocolVersion : byte
{
    /// <summary>The only one.</summary>
    Version1 = 1,
}

/// <summary>
/// Says whether this silo is overloaded: then it refuses the calls of clients. An application may register its own, which is asked for each
/// call of a client, by threads that must not block.
/// </summary>
public interface IOverloadDetector
{
    /// <summary>Whether the silo is overloaded now.</summary>
    bool IsOverloaded { get; }
}
