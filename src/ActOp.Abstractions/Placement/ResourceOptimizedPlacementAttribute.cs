using Orleans.Runtime;

namespace Orleans.Placement;

/// <summary>Puts activations of the marked grain where the most resources are left.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class ResourceOptimizedPlacementAttribute : PlacementAttribute
{
    /// <summary>Marks a grain.</summary>
    public ResourceOptimizedPlacementAttribute()
        : base(new ResourceOptimizedPlacement())
    {
    }
}
