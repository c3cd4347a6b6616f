using Orleans.Runtime;

namespace Orleans.Placement;

/// <summary>Puts activations of the marked grain on the caller's silo if it can run them.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class PreferLocalPlacementAttribute : PlacementAttribute
{
    /// <summary>Marks a grain.</summary>
    public PreferLocalPlacementAttribute()
        : base(new PreferLocalPlacement())
    {
    }
}
