namespace Orleans.CodeGeneration;

/// <summary>How a call is sent and admitted.</summary>
[Flags]
public enum InvokeMethodOptions
{
    /// <summary>Request and answer, one at a time.</summary>
    None = 0,

    /// <summary>No answer is sent.</summary>
    OneWay = 1,

    /// <summary>May run beside other read-only calls.</summary>
    ReadOnly = 2,

    /// <summary>May run beside any call.</summary>
    AlwaysInterleave = 4,

    /// <summary>Kept for source compatibility; has no effect.</summary>
    Unordered = 8,
}
