namespace Orleans.Runtime;

/// <summary>The caller's silo if it can run the grain, else any.</summary>
public sealed class PreferLocalPlacement : PlacementStrategy
{
}
