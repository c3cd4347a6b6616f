namespace ActOp.TestClusters;

/// <summary>
/// Tests that measure the whole process and so run while no other does. Each test project compiles this file: xunit takes the definition
/// of a collection from the assembly of the tests only.
/// </summary>
[CollectionDefinition(nameof(Alone), DisableParallelization = true)]
public sealed class Alone;
