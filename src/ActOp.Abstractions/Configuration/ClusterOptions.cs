namespace Orleans.Configuration;

/// <summary>Which cluster a silo or a client belongs to. Both ids must be the same for all that connect.</summary>
public class ClusterOptions
{
    /// <summary>The cluster's id when none is set.</summary>
    public const string DefaultClusterId = "default";

    /// <summary>The service's id when none is set.</summary>
    public const string DefaultServiceId = "default";

    /// <summary>The cluster: silos with the same id share their grains.</summary>
    public string ClusterId { get; set; } = DefaultClusterId;

    /// <summary>The service, which outlives the cluster: stored state belongs to it.</summary>
    public string ServiceId { get; set; } = DefaultServiceId;
}
