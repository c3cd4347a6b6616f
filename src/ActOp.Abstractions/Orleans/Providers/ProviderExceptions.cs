namespace Orleans.Providers;

/// <summary>A provider could not be made ready.</summary>
public sealed class ProviderInitializationException : Orleans.Runtime.OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public ProviderInitializationException()
        : base("The provider could not be initialized.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public ProviderInitializationException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public ProviderInitializationException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

/// <summary>A provider was asked for something in a state in which it cannot do it.</summary>
public sealed class ProviderStateException : Orleans.Runtime.OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public ProviderStateException()
        : base("The provider is in the wrong state.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public ProviderStateException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public ProviderStateException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
