namespace ActOp.Staging.Control;

/// <summary>How a <see cref="ModelController"/> decides.</summary>
/// <param name="Processors">Processors that the process may use, p.</param>
/// <param name="Penalty">What a thread costs in latency, eta, in seconds per thread.</param>
public sealed record ModelControllerSettings(double Processors, double Penalty)
{
    /// <summary>
    /// Processors that all threads together could use at most, as a multiple of those there are. Default 1.5: the paper's constraint (1)
    /// counts every thread as busy, but one that waits for work uses no processor. In the emulator 1 leaves stages near saturation, 1.5
    /// more than halves the latency, and 3 collapses under load.
    /// </summary>
    public double Headroom { get; init; } = 1.5;

    /// <summary>The fewest threads of a stage. Default 1.</summary>
    public int Minimum { get; init; } = 1;

    /// <summary>The most threads of a stage. Default 64: more would mean that calls block for longer than threads can help.</summary>
    public int Maximum { get; init; } = 64;

    /// <summary>Seconds from decision to decision: with the arrivals it says how many events a measurement rests on. Default 1.</summary>
    public double Period { get; init; } = 1;

    /// <summary>
    /// Weight of the last period in the smoothed demand, above 0 to 1. Default 0.3: three periods carry two thirds. Less where a period has
    /// few events.
    /// </summary>
    public double Smoothing { get; init; } = 0.3;

    /// <summary>
    /// A demand that differs by more than this share from the smoothed one is a step and replaces it. Default 0.3; more where few events
    /// make more noise. It counts when two periods in a row agree.
    /// </summary>
    public double StepShare { get; init; } = 0.3;

    /// <summary>A change must improve the objective by this share. Default 0.1: less cannot be told from noise.</summary>
    public double Hysteresis { get; init; } = 0.1;

    /// <summary>
    /// Periods for which a stage that got threads keeps them, unless its demand makes a step. Default 60: a minute of periods of one
    /// second.
    /// </summary>
    public int PeriodsToReverse { get; init; } = 60;
}
