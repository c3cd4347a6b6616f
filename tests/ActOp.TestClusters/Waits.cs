using ActOp.Runtime.Nodes;

namespace ActOp.TestClusters;

/// <summary>Waits of tests for what nobody tells them.</summary>
internal static class Waits
{
    /// <summary>
    /// Ends when no turn of the grains runs. An answer leaves before the turn that has made it ends, and until then no collection takes the
    /// grain: where time stands still afterwards, no later collection comes.
    /// </summary>
    internal static Task RestAsync(this InProcessTestCluster cluster, params IAddressable[] grains)
    {
        var ids = grains.Select(static grain => grain.GetGrainId()).ToHashSet();
        return UntilAsync(() => cluster.Nodes.SelectMany(static node => node.Activations)
            .Where(activation => ids.Contains(activation.GrainId)).All(static activation => activation.IsIdle));
    }

    /// <summary>
    /// Ends when the client has noticed that its link to a silo that was killed is lost: what it calls from then on goes elsewhere.
    /// </summary>
    internal static Task LinkLostAsync(this InProcessTestCluster cluster, SiloAddress silo)
    {
        var client = cluster.Client.ServiceProvider.GetRequiredService<Node>();
        return UntilAsync(() => !client.Peers.IsConnected(silo));
    }

    /// <summary>Ends when no node of the cluster has a call in flight; calls of the runtime itself come and go.</summary>
    internal static async Task NothingInFlightAsync(this InProcessTestCluster cluster)
    {
        foreach (var node in cluster.Nodes)
            await UntilAsync(() => node.Calls.InFlight == 0);
    }

    private static Task UntilAsync(Func<bool> isSo) =>
        TestingUtils.WaitUntilAsync(_ => Task.FromResult(isSo()), Gate.Patience, TimeSpan.FromMilliseconds(1));
}
