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

    /// <summary>
    /// How long activations of a class may be idle, by the class's full name. Longer than <see cref="CollectionQuantum"/>.
    /// </summary>
    public Dictionary<string, TimeSpan> ClassSpecificCollectionAge { get; set; } = [];

    /// <summary>
    /// How long activations may be idle before they end. Longer than <see cref="CollectionQuantum"/>. Default: 15 min.
    /// </summary>
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

/// <summary>Options of <c>AddActivationRebalancer</c>: how activations are spread evenly over the silos.</summary>
/// <remarks>
/// A session consists of cycles. In each cycle, the silos with the most activations give some to those with the fewest. The imbalance is
/// that of the entropy of their shares: 1 - entropy / ln(silos), between 0 and 1.
/// </remarks>
public sealed class ActivationRebalancerOptions
{
    /// <summary>The default of <see cref="ActivationMigrationCountLimit"/>.</summary>
    public const int DEFAULT_ACTIVATION_MIGRATION_COUNT_LIMIT = int.MaxValue;

    /// <summary>The default of <see cref="AllowedEntropyDeviation"/>.</summary>
    public const double DEFAULT_ALLOWED_ENTROPY_DEVIATION = 0.0001D;

    /// <summary>The default of <see cref="CycleNumberWeight"/>.</summary>
    public const double DEFAULT_CYCLE_NUMBER_WEIGHT = 0.1D;

    /// <summary>The default of <see cref="EntropyQuantum"/>.</summary>
    public const double DEFAULT_ENTROPY_QUANTUM = 0.0001D;

    /// <summary>The default of <see cref="MaxStagnantCycles"/>.</summary>
    public const int DEFAULT_MAX_STAGNANT_CYCLES = 3;

    /// <summary>The default of <see cref="ScaleAllowedEntropyDeviation"/>.</summary>
    public const bool DEFAULT_SCALE_ALLOWED_ENTROPY_DEVIATION = true;

    /// <summary>The default of <see cref="ScaledEntropyDeviationActivationThreshold"/>.</summary>
    public const int DEFAULT_SCALED_ENTROPY_DEVIATION_ACTIVATION_THRESHOLD = 10000;

    /// <summary>The default of <see cref="SiloNumberWeight"/>.</summary>
    public const double DEFAULT_SILO_NUMBER_WEIGHT = 0.1D;

    /// <summary>The most that <see cref="ScaleAllowedEntropyDeviation"/> makes of <see cref="AllowedEntropyDeviation"/>.</summary>
    public const double MAX_SCALED_ENTROPY_DEVIATION = 0.1D;

    /// <summary>The default of <see cref="RebalancerDueTime"/>.</summary>
    public static readonly TimeSpan DEFAULT_REBALANCER_DUE_TIME = TimeSpan.FromSeconds(60);

    /// <summary>The default of <see cref="SessionCyclePeriod"/>.</summary>
    public static readonly TimeSpan DEFAULT_SESSION_CYCLE_PERIOD = TimeSpan.FromSeconds(15);

    /// <summary>Most activations that move in one cycle. Default: no limit.</summary>
    public int ActivationMigrationCountLimit { get; set; } = DEFAULT_ACTIVATION_MIGRATION_COUNT_LIMIT;

    /// <summary>The imbalance at which a session has done its work, 0 to 0.1. Default: 0.0001.</summary>
    public double AllowedEntropyDeviation { get; set; } = DEFAULT_ALLOWED_ENTROPY_DEVIATION;

    /// <summary>
    /// More than 0, at most 1. How much faster activations move with each cycle of a session: in cycle n the share w n / (1 + w n) of half
    /// the difference between two silos, with a small number of silos. Default: 0.1.
    /// </summary>
    public double CycleNumberWeight { get; set; } = DEFAULT_CYCLE_NUMBER_WEIGHT;

    /// <summary>
    /// More than 0, at most 0.1. A cycle after which the imbalance is not lower by this much has brought nothing. Default: 0.0001.
    /// </summary>
    public double EntropyQuantum { get; set; } = DEFAULT_ENTROPY_QUANTUM;

    /// <summary>A session ends after so many cycles in a row that brought nothing. Default: 3.</summary>
    public int MaxStagnantCycles { get; set; } = DEFAULT_MAX_STAGNANT_CYCLES;

    /// <summary>Time before the first session, and after one that has done its work. Default: 1 min.</summary>
    public TimeSpan RebalancerDueTime { get; set; } = DEFAULT_REBALANCER_DUE_TIME;

    /// <summary>
    /// Whether <see cref="AllowedEntropyDeviation"/> grows with the logarithm of the number of activations beyond <see
    /// cref="ScaledEntropyDeviationActivationThreshold"/>, up to <see cref="MAX_SCALED_ENTROPY_DEVIATION"/>. Default: yes.
    /// </summary>
    public bool ScaleAllowedEntropyDeviation { get; set; } = DEFAULT_SCALE_ALLOWED_ENTROPY_DEVIATION;

    /// <summary>See <see cref="ScaleAllowedEntropyDeviation"/>; at least 1,000. Default: 10,000.</summary>
    public int ScaledEntropyDeviationActivationThreshold { get; set; } = DEFAULT_SCALED_ENTROPY_DEVIATION_ACTIVATION_THRESHOLD;

    /// <summary>Time between the cycles of a session. Default: 15 s.</summary>
    public TimeSpan SessionCyclePeriod { get; set; } = DEFAULT_SESSION_CYCLE_PERIOD;

    /// <summary>0 to 1. How much slower activations move in clusters of more silos. Default: 0.1.</summary>
    public double SiloNumberWeight { get; set; } = DEFAULT_SILO_NUMBER_WEIGHT;
}

/// <summary>
/// Options of <c>AddActivationRepartitioner</c>. A value that is not the default here is taken over into <c>LocalityOptions</c>, whose
/// defaults are others.
/// </summary>
public sealed class ActivationRepartitionerOptions
{
    /// <summary>The default of <see cref="MaxEdgeCount"/>.</summary>
    public const int DEFAULT_MAX_EDGE_COUNT = 10000;

    /// <summary>The default of <see cref="MaxRoundPeriod"/>.</summary>
    public static readonly TimeSpan DEFAULT_MAXIMUM_ROUND_PERIOD = TimeSpan.FromMinutes(2);

    /// <summary>The default of <see cref="MinRoundPeriod"/>.</summary>
    public static readonly TimeSpan DEFAULT_MINUMUM_ROUND_PERIOD = TimeSpan.FromMinutes(1);

    /// <summary>The default of <see cref="RecoveryPeriod"/>.</summary>
    public static readonly TimeSpan DEFAULT_RECOVERY_PERIOD = TimeSpan.FromMinutes(1);

    /// <summary>As <c>LocalityOptions.EdgeCapacity</c>. Default: 10,000.</summary>
    public int MaxEdgeCount { get; set; } = DEFAULT_MAX_EDGE_COUNT;

    /// <summary>As <c>LocalityOptions.MaxRoundPeriod</c>. Default: 2 min.</summary>
    public TimeSpan MaxRoundPeriod { get; set; } = DEFAULT_MAXIMUM_ROUND_PERIOD;

    /// <summary>As <c>LocalityOptions.MinRoundPeriod</c>. Default: 1 min.</summary>
    public TimeSpan MinRoundPeriod { get; set; } = DEFAULT_MINUMUM_ROUND_PERIOD;

    /// <summary>As <c>LocalityOptions.RejectionWindow</c>. Default: 1 min.</summary>
    public TimeSpan RecoveryPeriod { get; set; } = DEFAULT_RECOVERY_PERIOD;
}
