namespace Orleans.Runtime;

/// <summary>A lifecycle was stopped before its start had ended.</summary>
public sealed class OrleansLifecycleCanceledException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public OrleansLifecycleCanceledException()
        : base("The lifecycle was cancelled.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public OrleansLifecycleCanceledException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public OrleansLifecycleCanceledException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
