using ActOp.Mesh;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Nodes;
using ActOp.Runtime.Routing;
using ActOp.TestClusters;

namespace ActOp.Faults.Tests;

/// <summary>Silos that come back on their old endpoints as new ones.</summary>
public class RestartTests
{
    [Theory, InlineData(1, false), InlineData(1, true), InlineData(2, false)]
    public async Task A_client_goes_on_when_all_silos_have_started_again(short silos, bool inOrder)
    {
        await using var cluster = await TestSilos.StartAsync(silos);
        var grain = cluster.Client.GetGrain<IEchoGrain>("1");
        await grain.Echo("a");
        var old = cluster.Silos;
        foreach (var silo in old.Reverse())
            await (inOrder ? cluster.StopSiloAsync(silo) : cluster.KillSiloAsync(silo));
        await Assert.ThrowsAsync<SiloUnavailableException>(() => grain.Echo("b").WaitAsync(Gate.Patience));
        foreach (var silo in old)
            await cluster.RestartStoppedSecondarySiloAsync(silo.Name);

        await TestingUtils.WaitUntilAsync(
            async last =>
            {
                try
                {
                    return await grain.Echo("c") == "c";
                }
                catch (SiloUnavailableException) when (!last)
                {
                    return false;
                }
            },
            Gate.Patience,
            TimeSpan.FromMilliseconds(5));
        // Until a silo has heard that the old ones are dead, it may place a grain there.
        await cluster.WaitForLivenessToStabilizeAsync(didKill: true);
        for (var key = 0; key < 20; key++)
        {
            Assert.Contains(
                await cluster.Client.GetGrain<IEchoGrain>(key.ToString()).Where(), cluster.Silos.Select(silo => silo.SiloAddress));
        }
    }

    /// <summary>Otherwise what is sent to it would wait until the caller has lost its patience.</summary>
    [Fact]
    public async Task A_silo_that_the_mesh_has_ceased_to_dial_is_dialled_for_the_next_frame()
    {
        await using var cluster = await TestSilos.StartAsync(1);
        var silo = cluster.Silos[0].SiloAddress;
        var client = cluster.Client.ServiceProvider.GetRequiredService<Node>();
        var entry = new PeerEntry(client.Peers, silo, new Sender(silo, client.ClusterView, isSilo: false));
        entry.EnsureDialled();
        var peer = client.Peers.Mesh.FindPeer(PeerTable.IdOf(silo))!;
        peer.Keep = false;
        await cluster.KillSiloAsync(cluster.Silos[0]);
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(peer.State == PeerState.Closed), Gate.Patience, TimeSpan.FromMilliseconds(5));
        Assert.Null(client.Peers.Mesh.FindPeer(PeerTable.IdOf(silo)));
        Assert.Null(entry.Send(0, control: false, new byte[10]));
        Assert.NotSame(peer, client.Peers.Mesh.FindPeer(PeerTable.IdOf(silo)) ?? peer);
    }

    /// <summary>Its process is gone and its successor holds the endpoint: whoever asks for the silo there gets the present one.</summary>
    [Fact]
    public async Task The_silo_found_at_an_endpoint_is_the_present_one()
    {
        await using var cluster = await TestSilos.StartAsync(2);
        var node = cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();
        var first = cluster.Silos[1];
        Assert.Equal(first.SiloAddress, await node.Peers.FindAsync(first.SiloAddress.Endpoint).WaitAsync(Gate.Patience));
        await cluster.KillSiloAsync(first);
        var second = await cluster.RestartStoppedSecondarySiloAsync(first.Name);
        Assert.NotEqual(first.SiloAddress, second.SiloAddress);
        // The old one until its end is noticed, then nobody but the new one.
        await TestingUtils.WaitUntilAsync(
            async _ => second.SiloAddress.Equals(await node.Peers.FindAsync(second.SiloAddress.Endpoint).WaitAsync(Gate.Patience)),
            Gate.Patience,
            TimeSpan.FromMilliseconds(5));
    }

    [Fact]
    public void A_view_of_another_table_replaces_the_present_one_though_its_number_is_lower()
    {
        var table = new InMemoryMembershipTable(7);
        var silo = SiloAddress.New(System.Net.IPAddress.Loopback, 1, 1);
        var row = new MembershipRow(silo, "one", SiloStatus.Active, null);
        for (var version = 0; version < 5; version++)
        {
            Assert.True(table.Apply(new TableRequest(1, TableOperation.Write)
            {
                ExpectedVersion = version,
                ChangesView = true,
                Rows =
                [row with { Name = "one" + version }]
            }).Accepted);
        }

        var other = new InMemoryMembershipTable(8);
        var successor = SiloAddress.New(System.Net.IPAddress.Loopback, 1, 2);
        var next = other.Apply(new TableRequest(1, TableOperation.Write)
        {
            ChangesView = true,
            Rows =
            [new MembershipRow(successor, "two", SiloStatus.Active, null)]
        }).Snapshot;
        var silos = new ClusterView(null!);
        Assert.True(silos.Update(View.From(table.Apply(new TableRequest(2, TableOperation.Read)).Snapshot)));
        Assert.True(silos.Update(View.From(next)));
        Assert.Equal([successor], silos.Active);
        Assert.False(silos.Update(View.From(next)));
    }
}
