namespace ActOp.Bench.Grains;

/// <summary>How a loop of calls reads the clock.</summary>
public enum LoopTiming
{
    /// <summary>Once per 256 calls: nothing but calls is measured.</summary>
    None,

    /// <summary>The coarse clock of the system around every call: finds long waits, exact to some milliseconds.</summary>
    Coarse,

    /// <summary>The exact clock around every call: for loops that are slow anyway.</summary>
    Exact,

    /// <summary>As <see cref="None"/>, with a cancellation token that nobody cancels.</summary>
    Token,

    /// <summary>As <see cref="None"/>, each call within two spans that the caller records itself: the least that a recorded call costs.</summary>
    Spans,
}
