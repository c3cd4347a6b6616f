namespace Orleans.Runtime.Messaging;

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
