namespace Orleans.Runtime;

/// <summary>A call came for an extension that the activation does not have.</summary>
public sealed class GrainExtensionNotInstalledException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public GrainExtensionNotInstalledException()
        : base("The grain extension is not installed.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public GrainExtensionNotInstalledException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public GrainExtensionNotInstalledException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
