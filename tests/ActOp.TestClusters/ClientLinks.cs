using ActOp.Runtime.Hosting;
using ActOp.TestClusters;

namespace ActOp.TestClusters;

/// <summary>Waits of tests for what a client notices on its own.</summary>
internal static class ClientLinks
{
    /// <summary>
    /// Ends when the client has noticed that its link to a silo that was killed is lost: what it calls from then on goes elsewhere.
    /// </summary>
    internal static Task LinkLostAsync(this InProcessTestCluster cluster, SiloAddress silo)
    {
        var client = cluster.Client.ServiceProvider.GetRequiredService<Node>();
        return TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(!client.Peers.IsConnected(silo)), Gate.Patience, TimeSpan.FromMilliseconds(1));
    }
}
