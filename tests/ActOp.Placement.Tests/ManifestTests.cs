using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;

namespace ActOp.Placement.Tests;

/// <summary>What happens while a silo does not say what it hosts.</summary>
public class ManifestTests
{
    [Fact]
    public async Task A_silo_that_does_not_say_what_it_hosts_gets_no_grains_and_is_asked_again()
    {
        await using var silos = await SilosInVirtualTime.Deploy();
        var node = silos.NodeOf(0);
        using var hang = new ManualResetEventSlim();
        silos.NodeOf(1).Stages.Control.Post(new StageAction(() => hang.Wait(Gate.Patience)));
        try
        {
            var manifests = Begin(node);
            var grain = silos.Grains.GetGrain<IEchoGrain>("a").GetGrainId().Type;
            Assert.Equal([silos.AddressOf(1)], manifests.Known.Unknown);
            Assert.Equal([silos.AddressOf(0)], manifests.Known.HostsOf(grain)!.Silos);
            Assert.False(manifests.Known.AreAlike);

            var settled = manifests.SettleAsync(CancellationToken.None);
            Assert.False(settled.IsCompleted);
            await silos.PassAsync(ClusterManifests.AskLimit + TimeSpan.FromSeconds(1), 0);
            Assert.False(await settled.WaitAsync(Gate.Patience));

            hang.Set();
            await TestingUtils.WaitUntilAsync(
                _ =>
                {
                    silos.Clock.Advance(TimeSpan.FromMilliseconds(100));
                    return Task.FromResult(manifests.Known.Unknown.Length == 0);
                },
                Gate.Patience,
                TimeSpan.FromMilliseconds(1));
            Assert.Equal(node.ClusterView.Active, manifests.Known.HostsOf(grain)!.Silos);
            Assert.True(manifests.Known.AreAlike);
        }
        finally
        {
            hang.Set();
        }
    }

    [Fact]
    public async Task The_manifest_of_a_silo_that_has_left_is_dropped()
    {
        await using var silos = await SilosInVirtualTime.Deploy(silos: 3);
        var node = silos.NodeOf(0);
        var gone = silos.AddressOf(2);
        Assert.True(node.Manifests.Known.Manifests.ContainsKey(gone));
        var view = node.ClusterView.View;
        node.Manifests.OnView(new View(view.Number, view.Members.Where(member => !member.Silo.Equals(gone))));
        Assert.False(node.Manifests.Known.Manifests.ContainsKey(gone));
    }

    private static ClusterManifests Begin(Node node)
    {
        var classes = new GrainClasses(node.Local.Services, new RandomPlacement(), hasClasses: true);
        var manifests = new ClusterManifests(node.Local, node.ClusterView, classes, node.Factory);
        manifests.Open(classes.LoadLocal());
        manifests.OnView(node.ClusterView.View);
        return manifests;
    }
}
