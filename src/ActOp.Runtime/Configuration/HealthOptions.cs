namespace ActOp.Configuration;

/// <summary>When the health checks of a silo (<c>AddHealthChecks().AddActOp()</c>) say that it is not alive.</summary>
public sealed class HealthOptions
{
    /// <summary>
    /// Time without a step on one of the stages that must always run (control and work), or of a thread that reads from the network in one
    /// frame or writes to it in one item, after which the silo counts as not alive. Default: 30 s.
    /// </summary>
    public TimeSpan StageTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Time without a lease (<see cref="ClusterLeaseOptions"/>) after which the silo counts as not alive. It is not ready at once.
    /// Infinite: a missing lease says nothing about liveness. Default: 60 s.
    /// </summary>
    public TimeSpan LeaseTimeout { get; set; } = TimeSpan.FromSeconds(60);
}
