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

    /// <summary>
    /// Whether idle activations end, those that have been idle for longest first and with the reason HighMemoryPressure, while more memory
    /// is in use than <see cref="MemoryUsageLimitPercentage"/>. Default: false.
    /// </summary>
    public bool EnableActivationSheddingOnMemoryPressure { get; set; } = false;

    /// <summary>Memory in use above which activations end, in percent of what the process may use. Default: 80.</summary>
    public double MemoryUsageLimitPercentage { get; set; } = 80;

    /// <summary>Time between two measurements of the memory. Default: 5 s.</summary>
    public TimeSpan MemoryUsagePollingPeriod { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Memory in use, in percent, that is aimed at: as large a share of the activations ends as memory is to be given back. Default: 75.
    /// </summary>
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

/// <summary>When activations of stateless workers that are not needed end. The last one of a grain ends by its collection age.</summary>
public class StatelessWorkerOptions
{
    /// <summary>The default of <see cref="IdleWorkersInspectionPeriod"/>.</summary>
    public static readonly TimeSpan DEFAULT_IDLE_WORKERS_INSPECTION_PERIOD = TimeSpan.FromMilliseconds(500);

    /// <summary>The default of <see cref="MinIdleCyclesBeforeRemoval"/>.</summary>
    public const int DEFAULT_MIN_IDLE_CYCLES_BEFORE_REMOVAL = 1;

    /// <summary>The default of <see cref="RemoveIdleWorkers"/>.</summary>
    public const bool DEFAULT_REMOVE_IDLE_WORKERS = true;

    /// <summary>Time between two searches for idle activations. Measured in steps of 250 ms. Default: 500 ms.</summary>
    public TimeSpan IdleWorkersInspectionPeriod { get; set; } = DEFAULT_IDLE_WORKERS_INSPECTION_PERIOD;

    /// <summary>Number of consecutive periods without a request after which an activation ends. Default: 1.</summary>
    public int MinIdleCyclesBeforeRemoval { get; set; } = DEFAULT_MIN_IDLE_CYCLES_BEFORE_REMOVAL;

    /// <summary>
    /// Whether idle activations end before their collection age. A class can forbid it by its [StatelessWorker] attribute. Default: true.
    /// </summary>
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

/// <summary>Placement by use of resources: the weight of each, from 0 to 100, relative to the sum of all.</summary>
public sealed class ResourceOptimizedPlacementOptions
{
    /// <summary>The default of <see cref="CpuUsageWeight"/>.</summary>
    public const int DEFAULT_CPU_USAGE_WEIGHT = 40;

    /// <summary>The default of <see cref="MemoryUsageWeight"/>.</summary>
    public const int DEFAULT_MEMORY_USAGE_WEIGHT = 20;

    /// <summary>The default of <see cref="AvailableMemoryWeight"/>.</summary>
    public const int DEFAULT_AVAILABLE_MEMORY_WEIGHT = 20;

    /// <summary>The default of <see cref="MaxAvailableMemoryWeight"/>.</summary>
    public const int DEFAULT_MAX_AVAILABLE_MEMORY_WEIGHT = 5;

    /// <summary>The default of <see cref="ActivationCountWeight"/>.</summary>
    public const int DEFAULT_ACTIVATION_COUNT_WEIGHT = 15;

    /// <summary>The default of <see cref="LocalSiloPreferenceMargin"/>.</summary>
    public const int DEFAULT_LOCAL_SILO_PREFERENCE_MARGIN = 5;

    /// <summary>Weight of the processor use. Default: 40.</summary>
    public int CpuUsageWeight { get; set; } = DEFAULT_CPU_USAGE_WEIGHT;

    /// <summary>Weight of the memory in use. Default: 20.</summary>
    public int MemoryUsageWeight { get; set; } = DEFAULT_MEMORY_USAGE_WEIGHT;

    /// <summary>Weight of the memory that is left: more is better. Default: 20.</summary>
    public int AvailableMemoryWeight { get; set; } = DEFAULT_AVAILABLE_MEMORY_WEIGHT;

    /// <summary>Weight of the memory that a silo may use at most: more is better. Default: 5.</summary>
    public int MaxAvailableMemoryWeight { get; set; } = DEFAULT_MAX_AVAILABLE_MEMORY_WEIGHT;

    /// <summary>Weight of the number of activations. Default: 15.</summary>
    public int ActivationCountWeight { get; set; } = DEFAULT_ACTIVATION_COUNT_WEIGHT;

    /// <summary>
    /// How much higher the use of the requesting silo may be, in percent, so that it is chosen nevertheless. Default: 5.
    /// </summary>
    public int LocalSiloPreferenceMargin { get; set; } = DEFAULT_LOCAL_SILO_PREFERENCE_MARGIN;
}
