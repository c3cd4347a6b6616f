using ActOp.TestClusters;

namespace ActOp.TestClusters;

/// <summary>Nothing is left of what a test has done.</summary>
internal static class Quiet
{
    /// <summary>Waits until no node of the cluster has a call in flight; calls of the runtime itself come and go.</summary>
    internal static async Task NothingInFlightAsync(InProcessTestCluster cluster)
    {
        using var patience = new CancellationTokenSource(Gate.Patience);
        foreach (var node in cluster.Nodes)
        {
            while (node.Calls.InFlight > 0)
            {
                patience.Token.ThrowIfCancellationRequested();
                await Task.Yield();
            }
        }
    }
}
