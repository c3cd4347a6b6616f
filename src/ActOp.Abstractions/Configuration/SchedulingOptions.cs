namespace Orleans.Configuration;

/// <summary>How activations share the silo's threads.</summary>
public class SchedulingOptions
{
    /// <summary>The default of <see cref="ActivationSchedulingQuantum"/>.</summary>
    public static readonly TimeSpan DEFAULT_ACTIVATION_SCHEDULING_QUANTUM = TimeSpan.FromMilliseconds(100);

    /// <summary>The default of <see cref="DelayWarningThreshold"/>.</summary>
    public static readonly TimeSpan DEFAULT_DELAY_WARNING_THRESHOLD = TimeSpan.FromSeconds(10);

    /// <summary>The default of <see cref="MaxPendingWorkItemsSoftLimit"/>.</summary>
    public const int DEFAULT_MAX_PENDING_ITEMS_SOFT_LIMIT = 0;

    /// <summary>The default of <see cref="TurnWarningLengthThreshold"/>.</summary>
    public static readonly TimeSpan DEFAULT_TURN_WARNING_THRESHOLD = TimeSpan.FromSeconds(1);

    /// <summary>How long one activation may run turn after turn while others wait. Default: 100 ms.</summary>
    public TimeSpan ActivationSchedulingQuantum { get; set; } = DEFAULT_ACTIVATION_SCHEDULING_QUANTUM;

    /// <summary>How long a turn may wait before a warning is logged. Default: 10 s.</summary>
    public TimeSpan DelayWarningThreshold { get; set; } = DEFAULT_DELAY_WARNING_THRESHOLD;

    /// <summary>Turns waiting for one activation above which a warning is logged; 0 for none. Default: 0.</summary>
    public int MaxPendingWorkItemsSoftLimit { get; set; } = DEFAULT_MAX_PENDING_ITEMS_SOFT_LIMIT;

    /// <summary>How often a warning is logged of work for activations that have ended. Default: 1 min.</summary>
    public TimeSpan StoppedActivationWarningInterval { get; set; } = TimeSpan.FromMinutes(1);

    /// <summary>How long a turn may run before a warning is logged. Default: 1 s.</summary>
    public TimeSpan TurnWarningLengthThreshold { get; set; } = DEFAULT_TURN_WARNING_THRESHOLD;
}
