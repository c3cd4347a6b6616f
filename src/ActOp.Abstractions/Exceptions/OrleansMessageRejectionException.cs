namespace Orleans.Runtime;

/// <summary>A call was refused on its way and did not run.</summary>
public class OrleansMessageRejectionException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public OrleansMessageRejectionException()
        : base("The call was refused.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public OrleansMessageRejectionException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public OrleansMessageRejectionException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
