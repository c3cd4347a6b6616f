namespace Orleans.Configuration;

/// <summary>The ring of silos. There is none: the options have no effect, and a start that sets one says so.</summary>
public class ConsistentRingOptions
{
    /// <summary>The default of <see cref="NumVirtualBucketsConsistentRing"/>.</summary>
    public const int DEFAULT_NUM_VIRTUAL_RING_BUCKETS = 30;

    /// <summary>The default of <see cref="UseVirtualBucketsConsistentRing"/>.</summary>
    public const bool DEFAULT_USE_VIRTUAL_RING_BUCKETS = true;

    /// <summary>Parts of the ring for each silo. Default: 30.</summary>
    public int NumVirtualBucketsConsistentRing { get; set; } = DEFAULT_NUM_VIRTUAL_RING_BUCKETS;

    /// <summary>Whether a silo has several parts of the ring. Default: true.</summary>
    public bool UseVirtualBucketsConsistentRing { get; set; } = DEFAULT_USE_VIRTUAL_RING_BUCKETS;
}

/// <summary>How silos tell each other their loads. The option has no effect, and a start that sets it says so.</summary>
public class DeploymentLoadPublisherOptions
{
    /// <summary>The default of <see cref="DeploymentLoadPublisherRefreshTime"/>.</summary>
    public static readonly TimeSpan DEFAULT_DEPLOYMENT_LOAD_PUBLISHER_REFRESH_TIME = TimeSpan.FromSeconds(1);

    /// <summary>The period. Default: 1 s.</summary>
    public TimeSpan DeploymentLoadPublisherRefreshTime { get; set; } = DEFAULT_DEPLOYMENT_LOAD_PUBLISHER_REFRESH_TIME;
}

/// <summary>How silos tell each other what they host. The option has no effect, and a start that sets it says so.</summary>
public class TypeManagementOptions
{
    /// <summary>The default of <see cref="TypeMapRefreshInterval"/>.</summary>
    public static readonly TimeSpan DEFAULT_REFRESH_CLUSTER_INTERFACEMAP_TIME = TimeSpan.FromMinutes(1);

    /// <summary>The period. Default: 1 min.</summary>
    public TimeSpan TypeMapRefreshInterval { get; set; } = DEFAULT_REFRESH_CLUSTER_INTERFACEMAP_TIME;
}
