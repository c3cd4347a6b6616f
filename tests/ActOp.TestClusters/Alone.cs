namespace ActOp.TestClusters;

/// <summary>Tests that measure the whole process and so run while no other does.</summary>
[CollectionDefinition(nameof(Alone), DisableParallelization = true)]
public sealed class Alone;
