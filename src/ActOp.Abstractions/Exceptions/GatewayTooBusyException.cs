namespace Orleans.Runtime;

/// <summary>A silo refuses calls from clients because it is overloaded.</summary>
public sealed class GatewayTooBusyException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public GatewayTooBusyException()
        : base("The gateway is too busy.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public GatewayTooBusyException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public GatewayTooBusyException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
