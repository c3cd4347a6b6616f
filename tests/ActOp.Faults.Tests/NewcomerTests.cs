using System.Net;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Nodes;
using ActOp.Runtime.Routing;
using ActOp.TestClusters;

namespace ActOp.Faults.Tests;

/// <summary>A silo that has joined may speak before the news of its join has arrived: what it says waits, in order.</summary>
public class NewcomerTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    private static readonly SiloAddress Newcomer = SiloAddress.New(IPAddress.Loopback, 7, 7);

    private Node Silo => cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();

    [Fact]
    public void A_silo_is_a_member_when_the_view_lists_it_and_a_stranger_when_it_is_dead()
    {
        var view = new ClusterView(null!);
        var sender = new Sender(Newcomer, view, isSilo: true);
        Assert.Equal(PeerRole.Newcomer, sender.Role);
        Assert.True(view.Update(new View(1, [Row(SiloStatus.Joining)])));
        Assert.Equal(PeerRole.Member, sender.Role);
        Assert.True(view.Update(new View(2, [Row(SiloStatus.Active)])));
        Assert.Equal(PeerRole.Member, sender.Role);
        Assert.True(view.Update(new View(3, [Row(SiloStatus.Dead)])));
        Assert.Equal(PeerRole.Stranger, sender.Role);
        Assert.Equal(PeerRole.Client, new Sender(SiloAddress.New(IPAddress.Loopback, 7, -7), view, isSilo: true).Role);
    }

    [Fact]
    public void A_client_takes_the_silos_that_it_has_dialled_for_members_unless_they_are_dead()
    {
        var view = new ClusterView(null!);
        var sender = new Sender(Newcomer, view, isSilo: false);
        Assert.Equal(PeerRole.Member, sender.Role);
        Assert.True(view.Update(new View(1, [Row(SiloStatus.Dead)])));
        Assert.Equal(PeerRole.Stranger, sender.Role);
    }

    [Fact]
    public void Later_frames_do_not_overtake_those_that_wait()
    {
        var view = new ClusterView(null!);
        var sender = new Sender(Newcomer, view, isSilo: true);
        Assert.True(sender.Held.TryAdd([1], 0, out var isFirst));
        Assert.True(isFirst);
        Assert.True(view.Update(new View(1, [Row(SiloStatus.Active)])));
        Assert.Equal(PeerRole.Newcomer, sender.Role);
        Assert.True(sender.Held.TryAdd([2], 0, out isFirst));
        Assert.False(isFirst);
        Assert.Equal([1], sender.Held.TakeFrame(0));
        Assert.Equal(PeerRole.Newcomer, sender.Role);
        Assert.Equal([2], sender.Held.TakeFrame(0));
        Assert.Null(sender.Held.TakeFrame(0));
        Assert.Equal(PeerRole.Member, sender.Role);
    }

    [Fact]
    public void Only_so_many_bytes_of_a_newcomer_wait()
    {
        var held = new HeldFrames();
        var frame = new byte[1 << 20];
        for (var count = 0; count < 4; count++)
            Assert.True(held.TryAdd(frame, 0, out _));
        Assert.False(held.TryAdd(frame, 0, out _));
        held.TakeFrame(0);
        Assert.True(held.TryAdd(frame, 0, out _));
        held.Clear();
        Assert.False(held.IsWaiting);
    }

    /// <summary>A request that places a grain, from a silo that the view does not list: it waits, and reads the table once.</summary>
    [Fact]
    public void What_only_members_may_send_waits_and_is_refused_if_no_view_lists_the_sender()
    {
        var sender = new Sender(Newcomer, Silo.ClusterView, isSilo: true);
        var asked = 0;
        Silo.Peers.Reader.Rights.NewcomerSeen += () => Interlocked.Increment(ref asked);
        var before = Silo.Refusals[Refusal.View];
        byte[] note = [(byte)FrameKind.Forwarded, 1, 1, 0, 0, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1, 7, 14];
        Silo.Peers.Reader.Read(sender, sender.Role, note);
        Silo.Peers.Reader.Read(sender, sender.Role, note);
        Assert.True(sender.Held.IsWaiting);
        Assert.Equal((1, before), (asked, Silo.Refusals[Refusal.View]));
        while (sender.Held.TakeFrame(0) is { } frame)
            Silo.Peers.Reader.Read(sender, PeerRole.Stranger, frame);
        Assert.Equal(before + 2, Silo.Refusals[Refusal.View]);
    }

    private static Member Row(SiloStatus status) => new(Newcomer, "n", status, null, default);
}
