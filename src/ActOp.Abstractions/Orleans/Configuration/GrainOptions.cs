namespace Orleans.Configuration;

/// <summary>When activations end, and how long starting and ending may take.</summary>
public class GrainCollectionOptions
{
    /// <summary>The default of <see cref="ActivationTimeout"/>.</summary>
    public static readonly TimeSpan DEFAULT_ACTIVATION_TIMEOUT = TimeSpan.FromSeconds(30);

    /// <summary>The default of <see cref="CollectionQuantum"/>.</summary>
    public static readonly TimeSpan DEFAULT_COLLECTION_QUANTUM = TimeSpan.FromMinutes(1);

    /// <summary>The default of <see cref="DeactivationTimeout"/>.</summary>
    public static readonly TimeSpan DEFAULT_DEACTIVATION_TIMEOUT = TimeSpan.FromSeconds(30);

    /// <summary>
    /// How long the stages of the lifecycle and <c>OnActivateAsync</c> may take together. Default: 30 s, as long as a call waits. Then
    /// their token is signalled, the calls that wait fail with a <see cref="TimeoutException"/>, and the next call begins a new activation.
    /// </summary>
    public TimeSpan ActivationTimeout { get; set; } = DEFAULT_ACTIVATION_TIMEOUT;

    /// <summary>How long activations of a class may be idle, by the class's full name.</summary>
    public Dictionary<string, TimeSpan> ClassSpecificCollectionAge { get; set; } = [];

    /// <summary>How long activations may be idle before they end. Default: 15 min.</summary>
    public TimeSpan CollectionAge { get; set; } = TimeSpan.FromMinutes(15);

    /// <summary>How often idle activations are looked for. Default: 1 min.</summary>
    public TimeSpan CollectionQuantum { get; set; } = DEFAULT_COLLECTION_QUANTUM;

    /// <summary>
    /// How long <c>OnDeactivateAsync</c>, the stages of the lifecycle and the disposal may take together. Default: 30 s. What has not ended
    /// then is left behind with a warning in the log.
    /// </summary>
    public TimeSpan DeactivationTimeout { get; set; } = DEFAULT_DEACTIVATION_TIMEOUT;

    /// <summary>Whether activations end when memory runs short. Default: false.</summary>
    public bool EnableActivationSheddingOnMemoryPressure { get; set; } = false;

    /// <summary>Memory in use, in percent, above which they do. Default: 80.</summary>
    public double MemoryUsageLimitPercentage { get; set; } = 80;

    /// <summary>How often memory is looked at. Default: 5 s.</summary>
    public TimeSpan MemoryUsagePollingPeriod { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Memory in use, in percent, at which they stop to. Default: 75.</summary>
    public double MemoryUsageTargetPercentage { get; set; } = 75;
}

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

    /// <summary>
    /// Maximum time that one activation runs turn after turn before others that wait for a thread get it; it ends with the turn that passes
    /// it. Measured in steps of 50 ms. Default: 100 ms.
    /// </summary>
    public TimeSpan ActivationSchedulingQuantum { get; set; } = DEFAULT_ACTIVATION_SCHEDULING_QUANTUM;

    /// <summary>Time that turns wait for a thread before a warning is logged. Default: 10 s.</summary>
    public TimeSpan DelayWarningThreshold { get; set; } = DEFAULT_DELAY_WARNING_THRESHOLD;

    /// <summary>
    /// Number of items that wait or run in one activation above which a warning is logged, every
    /// <see cref="SiloMessagingOptions.GrainWorkloadAnalysisPeriod"/>; 0 for no warning. Above 0, all activations are visited. Default: 0.
    /// </summary>
    public int MaxPendingWorkItemsSoftLimit { get; set; } = DEFAULT_MAX_PENDING_ITEMS_SOFT_LIMIT;

    /// <summary>Minimum time between two warnings about tasks of activations that have ended. Default: 1 min.</summary>
    public TimeSpan StoppedActivationWarningInterval { get; set; } = TimeSpan.FromMinutes(1);

    /// <summary>Time that turns of one activation run without a pause before a warning is logged. Default: 1 s.</summary>
    public TimeSpan TurnWarningLengthThreshold { get; set; } = DEFAULT_TURN_WARNING_THRESHOLD;
}

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

/// <summary>Placement by number of activations.</summary>
public class ActivationCountBasedPlacementOptions
{
    /// <summary>The default of <see cref="ChooseOutOf"/>.</summary>
    public const int DEFAULT_ACTIVATION_COUNT_PLACEMENT_CHOOSE_OUT_OF = 2;

    /// <summary>How many silos, chosen at random, are compared. Default: 2.</summary>
    public int ChooseOutOf { get; set; } = DEFAULT_ACTIVATION_COUNT_PLACEMENT_CHOOSE_OUT_OF;
}

/// <summary>Which grain classes and interfaces a silo has.</summary>
/// <remarks>
/// Both sets are filled with all that the generated code of the process has registered. A class that is removed here is not hosted by this
/// silo: its grains run on the other silos that have it.
/// </remarks>
public class GrainTypeOptions
{
    /// <summary>The grain classes that the silo hosts; generic ones as open types.</summary>
    public HashSet<Type> Classes { get; } = [];

    /// <summary>The grain interfaces whose versions the silo tells the others; generic ones as open types.</summary>
    public HashSet<Type> Interfaces { get; } = [];
}

/// <summary>How calls and activations of different versions of an interface go together (<c>[Version]</c>).</summary>
public class GrainVersioningOptions
{
    /// <summary>The name of the <see cref="Orleans.Versions.Compatibility.CompatibilityStrategy"/>. Default: BackwardCompatible.</summary>
    public string DefaultCompatibilityStrategy { get; set; } = nameof(Orleans.Versions.Compatibility.BackwardCompatible);

    /// <summary>The name of the <see cref="Orleans.Versions.Selector.VersionSelectorStrategy"/>. Default: AllCompatibleVersions.</summary>
    public string DefaultVersionSelectorStrategy { get; set; } = nameof(Orleans.Versions.Selector.AllCompatibleVersions);
}
