namespace Orleans.Runtime;

/// <summary>The silo with the fewest recently used activations among a few chosen at random.</summary>
public sealed class ActivationCountBasedPlacement : PlacementStrategy
{
}
