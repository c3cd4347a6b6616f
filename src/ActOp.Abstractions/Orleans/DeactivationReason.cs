namespace Orleans;

/// <summary>Why an activation ends. Two are equal if all their members are; exceptions are equal to themselves only.</summary>
public readonly record struct DeactivationReason
{
    /// <summary>Creates a reason.</summary>
    public DeactivationReason(DeactivationReasonCode code, string text)
        : this(code, null, text)
    {
    }

    /// <summary>Creates a reason with the exception that led to it.</summary>
    public DeactivationReason(DeactivationReasonCode code, Exception? exception, string text)
    {
        ReasonCode = code;
        Exception = exception;
        Description = text;
    }

    /// <summary>The reason for people.</summary>
    public string Description { get; }

    /// <summary>The exception that led to it, or null.</summary>
    public Exception? Exception { get; }

    /// <summary>The reason for programs.</summary>
    public DeactivationReasonCode ReasonCode { get; }

    /// <inheritdoc/>
    public override string ToString() => Exception is null
        ? ReasonCode + ": " + Description
        : ReasonCode + ": " + Description + " Exception: " + Exception;
}

/// <summary>Kinds of reasons why an activation ends.</summary>
public enum DeactivationReasonCode : byte
{
    /// <summary>Not said.</summary>
    None = 0,

    /// <summary>The silo stops.</summary>
    ShuttingDown = 1,

    /// <summary>The activation did not get ready.</summary>
    ActivationFailed = 2,

    /// <summary>The directory could not register it.</summary>
    DirectoryFailure = 3,

    /// <summary>There were no calls for some time.</summary>
    ActivationIdle = 4,

    /// <summary>A call has run for too long.</summary>
    ActivationUnresponsive = 5,

    /// <summary>The grain has another activation.</summary>
    DuplicateActivation = 6,

    /// <summary>A call came for a version of the interface that it does not have.</summary>
    IncompatibleRequest = 7,

    /// <summary>An exception of the application.</summary>
    ApplicationError = 8,

    /// <summary>The application asked for it.</summary>
    ApplicationRequested = 9,

    /// <summary>It moves to another silo.</summary>
    Migrating = 10,

    /// <summary>The runtime asked for it.</summary>
    RuntimeRequested = 11,

    /// <summary>The silo runs out of memory.</summary>
    HighMemoryPressure = 12,
}
