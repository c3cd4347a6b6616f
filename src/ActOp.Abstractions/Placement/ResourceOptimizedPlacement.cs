namespace Orleans.Runtime;

/// <summary>The silo with the most resources left: processor, memory and activations.</summary>
public sealed class ResourceOptimizedPlacement : PlacementStrategy
{
}
