namespace Orleans;

/// <summary>Why an activation ends.</summary>
public readonly struct DeactivationReason
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
