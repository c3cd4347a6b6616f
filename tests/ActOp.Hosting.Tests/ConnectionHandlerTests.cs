using System.Collections.Concurrent;
using ActOp.TestClusters;

namespace ActOp.Hosting.Tests;

public class ConnectionHandlerTests
{
    [Fact]
    public async Task Handlers_of_a_client_are_told_of_connections_won_and_lost()
    {
        var counts = new ConcurrentQueue<(int Now, int Before, bool IsClient)>();
        var lost = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var builder = new InProcessTestClusterBuilder(2);
        builder.ConfigureClient(client => client
            .AddGatewayCountChangedHandler((_, _) => throw new InvalidOperationException("one that fails"))
            .AddGatewayCountChangedHandler((sender, e) =>
                counts.Enqueue((e.NumberOfConnectedGateways, e.PreviousNumberOfConnectedGateways, sender is IClusterClient)))
            .AddClusterConnectionLostHandler((_, _) => lost.TrySetResult()));
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        foreach (var silo in cluster.Silos.ToArray())
            await cluster.KillSiloAsync(silo);
        await lost.Task.WaitAsync(Gate.Patience);
        Assert.Equal(0, counts.Last().Now);
        Assert.All(counts, change => Assert.True(change.IsClient));
        Assert.Equal(0, counts.First().Before);
        Assert.All(counts.Zip(counts.Skip(1)), pair => Assert.Equal(pair.First.Now, pair.Second.Before));
    }
}
