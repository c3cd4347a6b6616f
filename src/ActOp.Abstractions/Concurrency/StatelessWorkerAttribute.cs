using Orleans.Placement;
using Orleans.Runtime;

namespace Orleans.Concurrency;

/// <summary>
/// Calls of the marked grain always stay on the caller's silo, which runs as many activations of it as are busy at once, up to a limit.
/// </summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class StatelessWorkerAttribute : PlacementAttribute
{
    /// <summary>Up to one activation per processor.</summary>
    public StatelessWorkerAttribute()
        : base(new StatelessWorkerPlacement())
    {
    }

    /// <summary>Up to <paramref name="maxLocalWorkers"/> activations per silo.</summary>
    public StatelessWorkerAttribute(int maxLocalWorkers)
        : base(new StatelessWorkerPlacement(maxLocalWorkers))
    {
    }

    /// <summary>Up to <paramref name="maxLocalWorkers"/> activations per silo.</summary>
    /// <param name="maxLocalWorkers">The limit, from 1; anything less means one per processor.</param>
    /// <param name="removeIdleWorkers">Whether activations that are not needed end soon.</param>
    public StatelessWorkerAttribute(int maxLocalWorkers, bool removeIdleWorkers)
        : base(new StatelessWorkerPlacement(maxLocalWorkers, removeIdleWorkers))
    {
    }
}
