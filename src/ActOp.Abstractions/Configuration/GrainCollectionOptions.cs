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
