using ActOp.TestClusters;

namespace ActOp.TestClusters;

/// <summary>Waits of tests for grains to be at rest.</summary>
internal static class Rest
{
    /// <summary>
    /// Ends when no turn of the grains runs. An answer leaves before the turn that has made it ends, and until then no collection takes the
    /// grain: where time stands still afterwards, no later collection comes.
    /// </summary>
    internal static Task RestAsync(this InProcessTestCluster cluster, params IAddressable[] grains)
    {
        var ids = grains.Select(static grain => grain.GetGrainId()).ToHashSet();
        return TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(cluster.Nodes.SelectMany(static node => node.Activations)
                .Where(activation => ids.Contains(activation.GrainId)).All(static activation => activation.IsIdle)),
            Gate.Patience,
            TimeSpan.FromMilliseconds(1));
    }
}
