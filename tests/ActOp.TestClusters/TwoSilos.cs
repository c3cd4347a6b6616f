namespace ActOp.TestClusters;

/// <summary>Two silos and a client as they come.</summary>
public sealed class TwoSilos() : ClusterFixture(2);
