namespace ActOp.Staging.Tests.Measuring;

/// <summary>Tests that measure the machine run alone: others would compete in ways that their sources do not model.</summary>
[CollectionDefinition(nameof(Exclusive), DisableParallelization = true)]
public static class Exclusive;
