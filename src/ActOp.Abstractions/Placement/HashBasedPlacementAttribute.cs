using Orleans.Runtime;

namespace Orleans.Placement;

/// <summary>Puts activations of the marked grain on the silo that the hash of its id selects.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class HashBasedPlacementAttribute : PlacementAttribute
{
    /// <summary>Marks a grain.</summary>
    public HashBasedPlacementAttribute()
        : base(new HashBasedPlacement())
    {
    }
}
