using Orleans.Runtime;

namespace ActOp.Configuration;

/// <summary>
/// How long a silo without contact to the membership table may run grains. The others wait this long before they run the grains of a silo
/// that stopped replying. They do not wait for a silo that left or whose process is known to be gone.
/// </summary>
public sealed class ClusterLeaseOptions
{
    /// <summary>
    /// A silo pauses its grains if it could not confirm for nine tenths of this time that the table still lists it, and resumes them when
    /// it can. Infinite by default: the embedded table is held by one silo, and while that silo is down no lease can be renewed, so all
    /// silos would pause. With an infinite lease, an isolated silo may run a grain that other silos run too, until it learns of its
    /// eviction.
    /// </summary>
    public TimeSpan Duration { get; set; } = Timeout.InfiniteTimeSpan;

    internal void Validate()
    {
        if (Duration != Timeout.InfiniteTimeSpan && (Duration < TimeSpan.FromSeconds(1) || Duration > TimeSpan.FromHours(1)))
        {
            throw new OrleansConfigurationException("ClusterLeaseOptions.Duration must be 1 second to 1 hour or infinite, but is "
                + Duration + ".");
        }
    }
}
