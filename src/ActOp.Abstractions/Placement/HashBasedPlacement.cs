namespace Orleans.Runtime;

/// <summary>The silo that the hash of the grain's id selects among those that can run it.</summary>
public sealed class HashBasedPlacement : PlacementStrategy
{
}
