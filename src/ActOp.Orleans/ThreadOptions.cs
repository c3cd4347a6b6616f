namespace ActOp.Orleans;

/// <summary>
/// The number of threads of the .NET thread pool, the one stage of Orleans, by the model of the ActOp paper (section 5).
/// Configuration section <c>ActOp:Threads</c>. The names are those of <c>StageOptions</c> of the runtime of ActOp.
/// </summary>
public sealed class ThreadOptions
{
    /// <summary>
    /// Whether the pool is measured and its minimum set. On by default. May change while the silo runs: when it is switched off, the pool
    /// gets back what the host has configured.
    /// </summary>
    public bool Enabled { get; set; } = true;

    /// <summary>
    /// Time between two decisions. Default 1 s. A pool in which items wait all the time gets a decision after a fifth of a second.
    /// </summary>
    public TimeSpan ModelPeriod { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// The most threads that the pool's minimum is set to. Default 256; the pool itself may still add more, as without this package. What
    /// the host has configured is never lowered.
    /// </summary>
    public int MaxThreads { get; set; } = 256;

    /// <summary>
    /// Whether the pool's maximum is set to the same number, so that the pool adds no thread by itself. Off by default: work that waits
    /// for other work of the pool then waits until the next decision.
    /// </summary>
    public bool SetMaximum { get; set; }

    /// <summary>
    /// How often an idle thread of the pool looks for work before it sleeps; null leaves it as the host or .NET has it (70). Default 0:
    /// each time a thread ran out of work, the looks cost more processor time than the calls (record 0120). It is in effect if the pool
    /// has no thread yet when the silo is configured, and does not change later. The host's setting
    /// <c>System.Threading.ThreadPool.UnfairSemaphoreSpinLimit</c> comes first.
    /// </summary>
    public int? SpinLimit { get; set; } = 0;

    /// <summary>What a thread costs in latency, eta of the paper, per thread. Default 25 us.</summary>
    public TimeSpan ThreadPenalty { get; set; } = TimeSpan.FromMicroseconds(25);

    /// <summary>
    /// Processors that all threads of the pool could use at most, as a multiple of those there are. Default 1.5: a thread that waits for
    /// work uses none.
    /// </summary>
    public double ProcessorHeadroom { get; set; } = 1.5;

    /// <summary>Weight of the last period in the smoothed demand, above 0 to 1. Default 0.3.</summary>
    public double Smoothing { get; set; } = 0.3;

    /// <summary>The number changes only if the objective of the model improves by at least this share. Default 0.1.</summary>
    public double Hysteresis { get; set; } = 0.1;

    internal void Validate()
    {
        Check(ModelPeriod >= TimeSpan.FromMilliseconds(100) && ModelPeriod <= TimeSpan.FromMinutes(1),
            nameof(ModelPeriod), ModelPeriod, "at least 100 ms and at most a minute");
        Check(MaxThreads is >= 1 and <= short.MaxValue, nameof(MaxThreads), MaxThreads, "at least 1 and at most 32,767");
        Check(SpinLimit is null or (>= 0 and <= short.MaxValue),
            nameof(SpinLimit), SpinLimit!, "at least 0 and at most 32,767, or null");
        Check(ThreadPenalty > TimeSpan.Zero, nameof(ThreadPenalty), ThreadPenalty, "above zero");
        Check(ProcessorHeadroom >= 1 && double.IsFinite(ProcessorHeadroom),
            nameof(ProcessorHeadroom), ProcessorHeadroom, "finite and at least 1");
        Check(Smoothing is > 0 and <= 1, nameof(Smoothing), Smoothing, "above 0 and at most 1");
        Check(Hysteresis >= 0 && double.IsFinite(Hysteresis), nameof(Hysteresis), Hysteresis, "finite and at least 0");
    }

    private static void Check(bool valid, string option, object value, string must) =>
        OptionCheck.That(valid, nameof(ThreadOptions) + "." + option, value, must);
}
