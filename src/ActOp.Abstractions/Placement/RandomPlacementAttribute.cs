using Orleans.Runtime;

namespace Orleans.Placement;

/// <summary>Puts activations of the marked grain on any silo.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class RandomPlacementAttribute : PlacementAttribute
{
    /// <summary>Marks a grain.</summary>
    public RandomPlacementAttribute()
        : base(new RandomPlacement())
    {
    }
}
