using System.Net;
using ActOp.Configuration;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Nodes;
using ActOp.Runtime.Routing;
using ActOp.TestClusters;

namespace ActOp.Faults.Tests;

/// <summary>An address that the view does not list, as any peer may name one.</summary>
public class UnlistedSiloTests
{
    private static readonly SiloAddress Nobody = SiloAddress.New(IPAddress.Parse("10.0.0.7"), 11_111, 5);

    [Fact]
    public async Task A_silo_that_the_view_does_not_list_is_not_dialled_and_what_waits_for_it_is_given_up()
    {
        await using var cluster = Cluster(_ => { });
        await cluster.DeployAsync();
        var node = cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();
        var call = node.Factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, Nobody).GetTable().AsTask();
        Assert.False(call.IsCompleted);
        Assert.Null(node.Peers.Mesh.FindPeer(PeerTable.IdOf(Nobody)));
        var now = node.Local.Clock.Now;
        await OnControlAsync(node, () => node.Peers.TendWaiting(now));
        await OnControlAsync(node, () => node.Peers.TendWaiting(now + PeerTable.LongestUnlistedMs));
        await Assert.ThrowsAnyAsync<SiloUnavailableException>(() => call.WaitAsync(Gate.Patience));
        Assert.Null(node.Peers.Mesh.FindPeer(PeerTable.IdOf(Nobody)));
    }

    [Fact]
    public async Task What_waits_for_all_nodes_together_is_limited()
    {
        await using var cluster = Cluster(silo => silo.Configure<ConnectionLimitOptions>(options => options.MaxWaitingBytes = 1));
        await cluster.DeployAsync();
        var node = cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();
        var call = node.Factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, Nobody).GetTable().AsTask();
        var exception = await Assert.ThrowsAsync<LimitExceededException>(() => call.WaitAsync(Gate.Patience));
        Assert.Contains("ConnectionLimitOptions.MaxWaitingBytes", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_waits_for_one_node_is_limited_and_leaves_room_for_others()
    {
        await using var cluster =
            Cluster(silo => silo.Configure<ConnectionLimitOptions>(options => options.MaxWaitingBytesPerNode = 1_000));
        await cluster.DeployAsync();
        var node = cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();
        Task CallAsync(SiloAddress silo) => node.Factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, silo).GetTable().AsTask();
        var calls = Enumerable.Range(0, 100).Select(_ => CallAsync(Nobody)).ToArray();
        var refused = Array.FindAll(calls, static call => call.IsFaulted);
        Assert.InRange(refused.Length, 80, 99);
        var exception = await Assert.ThrowsAsync<LimitExceededException>(() => refused[0]);
        Assert.Contains("ConnectionLimitOptions.MaxWaitingBytesPerNode", exception.Message, StringComparison.Ordinal);
        Assert.False(CallAsync(SiloAddress.New(IPAddress.Parse("10.0.0.8"), 11_111, 5)).IsCompleted);
    }

    [Fact]
    public async Task Data_that_waits_for_a_node_leaves_room_for_control_frames()
    {
        await using var cluster =
            Cluster(silo => silo.Configure<ConnectionLimitOptions>(options => options.MaxWaitingBytesPerNode = 1_000));
        await cluster.DeployAsync();
        var node = cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();
        Assert.Null(node.Peers.Send(Nobody, GrainId.Create("grain", "1"), new byte[950]));
        Assert.IsType<LimitExceededException>(node.Peers.Send(Nobody, GrainId.Create("grain", "1"), new byte[950]));

        var probe = node.Factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, Nobody).GetTable().AsTask();

        Assert.False(probe.IsCompleted);
    }

    private static Task OnControlAsync(Node node, Action step)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        node.Peers.Post(() =>
        {
            step();
            done.SetResult();
        });
        return done.Task.WaitAsync(Gate.Patience);
    }

    private static InProcessTestCluster Cluster(Action<ISiloBuilder> configure)
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo((_, silo) => configure(silo));
        return builder.Build();
    }
}
