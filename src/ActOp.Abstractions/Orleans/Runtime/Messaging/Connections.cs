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

/// <summary>
/// A frame of a connection is not valid. For code that names it: here a frame that is not valid closes its connection, and a message that
/// is too long fails with <see cref="LimitExceededException"/>.
/// </summary>
public sealed class InvalidMessageFrameException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public InvalidMessageFrameException()
        : base("The frame is not valid.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public InvalidMessageFrameException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public InvalidMessageFrameException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
