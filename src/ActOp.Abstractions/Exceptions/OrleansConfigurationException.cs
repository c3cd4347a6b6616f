namespace Orleans.Runtime;

/// <summary>The configuration is wrong: the message names the option.</summary>
public sealed class OrleansConfigurationException : Exception
{
    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public OrleansConfigurationException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public OrleansConfigurationException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
