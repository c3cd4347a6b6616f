namespace Orleans.Runtime;

/// <summary>A grain reference that belongs to no runtime was used.</summary>
public sealed class GrainReferenceNotBoundException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public GrainReferenceNotBoundException()
        : base("The grain reference is not bound to a runtime.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public GrainReferenceNotBoundException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public GrainReferenceNotBoundException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
