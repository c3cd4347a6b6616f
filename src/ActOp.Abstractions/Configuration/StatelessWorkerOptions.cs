namespace Orleans.Configuration;

/// <summary>When activations of stateless workers that are not needed end.</summary>
public class StatelessWorkerOptions
{
    /// <summary>The default of <see cref="IdleWorkersInspectionPeriod"/>.</summary>
    public static readonly TimeSpan DEFAULT_IDLE_WORKERS_INSPECTION_PERIOD = TimeSpan.FromMilliseconds(500);

    /// <summary>The default of <see cref="MinIdleCyclesBeforeRemoval"/>.</summary>
    public const int DEFAULT_MIN_IDLE_CYCLES_BEFORE_REMOVAL = 1;

    /// <summary>The default of <see cref="RemoveIdleWorkers"/>.</summary>
    public const bool DEFAULT_REMOVE_IDLE_WORKERS = true;

    /// <summary>How often they are looked for. Default: 500 ms.</summary>
    public TimeSpan IdleWorkersInspectionPeriod { get; set; } = DEFAULT_IDLE_WORKERS_INSPECTION_PERIOD;

    /// <summary>How often in a row one must be found idle. Default: 1.</summary>
    public int MinIdleCyclesBeforeRemoval { get; set; } = DEFAULT_MIN_IDLE_CYCLES_BEFORE_REMOVAL;

    /// <summary>Whether they end early at all. Default: true.</summary>
    public bool RemoveIdleWorkers { get; set; } = DEFAULT_REMOVE_IDLE_WORKERS;
}
