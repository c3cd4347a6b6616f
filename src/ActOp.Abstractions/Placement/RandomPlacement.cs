namespace Orleans.Runtime;

/// <summary>Any silo.</summary>
public sealed class RandomPlacement : PlacementStrategy
{
}
