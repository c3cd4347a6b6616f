namespace Orleans.Runtime;

/// <summary>Something in the runtime went wrong; base of the exceptions that tell what.</summary>
public class OrleansException : Exception
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public OrleansException()
        : base("The runtime failed.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public OrleansException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public OrleansException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
