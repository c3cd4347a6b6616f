using Orleans.Runtime;

namespace Orleans.Placement;

/// <summary>Puts activations of the marked grain where the fewest are in use.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class ActivationCountBasedPlacementAttribute : PlacementAttribute
{
    /// <summary>Marks a grain.</summary>
    public ActivationCountBasedPlacementAttribute()
        : base(new ActivationCountBasedPlacement())
    {
    }
}
