using Orleans.Runtime;

namespace ActOp.Configuration;

/// <summary>
/// How long a silo that is cut off from the membership table may go on running grains, and so how long the others wait before they run the
/// grains of a silo that fell silent (one that left, or whose process is gone for sure, is never waited for).
/// </summary>
public sealed class ClusterLeaseOptions
{
    /// <summary>
    /// A silo pauses its grains when it could not confirm for nine tenths of this time that the table still lists it, and resumes them when
    /// it can. Infinite by default: the embedded table lives in one silo, and when that one is down nobody could renew a lease, so all
    /// would pause. With an infinite lease a silo that is cut off, but not dead, may run a grain that the others run too, until it learns
    /// of its eviction.
    /// </summary>
    public TimeSpan Duration { get; set; } = Timeout.InfiniteTimeSpan;

    internal void Validate()
    {
        if (Duration != Timeout.InfiniteTimeSpan && (Duration < TimeSpan.FromSeconds(1) || Duration > TimeSpan.FromHours(1)))
            throw new OrleansConfigurationException("ClusterLeaseOptions.Duration must be 1 second to 1 hour or infinite, but is " + Duration + ".");
    }
}
