namespace Orleans.Runtime.MembershipService;

/// <summary>A silo starts and cannot join within the time that it has: the table or the other silos do not answer.</summary>
public sealed class OrleansClusterConnectivityCheckFailedException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public OrleansClusterConnectivityCheckFailedException()
        : base("The silo could not join the cluster.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public OrleansClusterConnectivityCheckFailedException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public OrleansClusterConnectivityCheckFailedException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

/// <summary>A silo starts, and its own row has vanished from the membership table.</summary>
public sealed class OrleansMissingMembershipEntryException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public OrleansMissingMembershipEntryException()
        : base("The silo is not in the membership table.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public OrleansMissingMembershipEntryException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public OrleansMissingMembershipEntryException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
