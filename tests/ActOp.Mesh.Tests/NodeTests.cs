using System.Net;
using static ActOp.Mesh.Tests.TestNode;

namespace ActOp.Mesh.Tests;

public class NodeTests
{
    [Theory, MemberData(nameof(Wires.All), MemberType = typeof(Wires))]
    public void Nodes_that_dial_each_other_at_once_keep_one_session_and_lose_nothing(Wire wire)
    {
        using var mesh = new TestMesh(wire);
        var (a, b) = (mesh.Add("a"), mesh.Add("b"));
        var ab = a.Mesh.Connect(b.EndPoint, new NodeId("b", NodeKind.Silo));
        var ba = b.Mesh.Connect(a.EndPoint);
        // The peer that was dialled by endpoint only learns who it is from its own dial, maybe after the other dial's session opened.
        mesh.Until(() => ab.State == PeerState.Connected && ba.State == PeerState.Connected, "connected");
        for (var i = 0; i < 100; i++)
        {
            Assert.Equal(SendResult.Accepted, ab.GetLink(0)!.TryAppend(Number(i)));
            Assert.Equal(SendResult.Accepted, ba.GetLink(0)!.TryAppend(Number(i)));
            mesh.Round();
        }

        mesh.Until(() => a.AllFrames.Count() == 100 && b.AllFrames.Count() == 100, "frames");
        Assert.Equal(["+b"], a.Events);
        Assert.Equal(["+a"], b.Events);
        Assert.Equal(2, a.Mesh.LinkCount);
        Assert.Equal(2, b.Mesh.LinkCount);
    }

    [Theory, InlineData(2, 3, 2), InlineData(3, 2, 2), InlineData(2, 2, 2), InlineData(3, 3, 3), InlineData(4, 3, 3), InlineData(4, 4, 4)]
    public void Both_ends_speak_the_highest_version_that_both_know(int dialler, int acceptor, int spoken)
    {
        using var mesh = new TestMesh(Wire.Memory);
        var a = mesh.Add("a", options => options.HighestVersion = (ushort)dialler);
        var b = mesh.Add("b", options => options.HighestVersion = (ushort)acceptor);
        var ab = a.Mesh.Connect(b.EndPoint);
        Assert.Equal(0, ab.ProtocolVersion);
        mesh.Until(() => ab.State == PeerState.Connected && b.Connected.Count == 1, "connected");
        Assert.Equal(spoken, ab.ProtocolVersion);
        Assert.Equal(spoken, b.Connected[0].ProtocolVersion);
        Assert.Equal(spoken, ab.GetLink(0)!.ProtocolVersion);
    }

    [Theory, InlineData(1, false), InlineData(3, true)]
    public void Dials_that_cross_in_any_order_end_in_one_session_and_lose_nothing(int links, bool hasSecret)
    {
        for (var seed = 0; seed < 300; seed++)
        {
            var random = new Random(seed);
            using var mesh = new TestMesh(Wire.Memory);
            mesh.Network.Delay = (_, _) => TimeSpan.FromMilliseconds(random.Next(8));
            TestNode[] nodes = [.. "ab".Select(name => mesh.Add(name.ToString(), options =>
            {
                options.LinksPerPeer = links;
                options.SiloSecrets = hasSecret ? [[.. Enumerable.Repeat((byte)7, 32)]] : [];
            }))];
            var dials = new[] { random.Next(30), random.Next(30) };
            var sent = new[] { 0, 0 };
            for (var tick = 0; tick < 2_000 && (sent.Any(count => count < 20) || nodes.Any(node => node.AllFrames.Count() < 20)); tick++)
            {
                for (var i = 0; i < 2; i++)
                {
                    if (tick == dials[i])
                    {
                        nodes[i].Mesh.Connect(nodes[1 - i].EndPoint, random.Next(2) == 0 ? null : nodes[1 - i].Mesh.Id);
                    }

                    if (nodes[i].Connected.Count == 1 && sent[i] < 20)
                    {
                        Assert.Equal(SendResult.Accepted, nodes[i].Connected[0].GetLink((uint)sent[i])!.TryAppend(Number(sent[i]++)));
                    }
                }

                mesh.Clock.Advance(TimeSpan.FromMilliseconds(1));
                mesh.Rounds(random.Next(1, 3));
            }

            Assert.Equal("+b|+a", nodes[0].Events.Single() + "|" + nodes[1].Events.Single());
            Assert.All(nodes, node => Assert.Equal(Enumerable.Range(0, 20), node.AllFrames.Select(frame => Number(frame)).Order()));
            Assert.All(nodes, node => Assert.Equal(1 + links, node.Mesh.LinkCount));
        }
    }

    [Theory, MemberData(nameof(Wires.All), MemberType = typeof(Wires))]
    public void A_node_of_another_cluster_is_refused(Wire wire)
    {
        using var mesh = new TestMesh(wire);
        var a = mesh.Add("a", options => options.ClusterId = "one");
        var b = mesh.Add("b", options => options.ClusterId = "other");
        a.Mesh.Connect(b.EndPoint);
        mesh.Until(() => a.Events.Contains("!WrongCluster") && b.Mesh.LinkCount == 0 && b.Log.Count == 2, "refused");
        Assert.All(b.Log, line => Assert.StartsWith("1003", line));
        Assert.Empty(a.Connected);
    }

    [Fact]
    public void A_node_whose_settings_do_not_fit_is_dialled_again_after_the_longest_pause_only()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var a = mesh.Add("a", options => options.ClusterId = "one");
        var b = mesh.Add("b", options => options.ClusterId = "other");
        var peer = a.Mesh.Connect(b.EndPoint);
        mesh.Until(() => a.Events.Count == 1);
        Assert.True(peer.LastFailure is { Reason: DisconnectReason.WrongCluster, IsPermanent: true });
        mesh.Clock.Advance(a.Mesh.Options.SearchMax);
        mesh.Rounds(10);
        Assert.Single(a.Events);
        mesh.Clock.Advance(a.Mesh.Options.ReconnectMax);
        mesh.Until(() => a.Events.Count == 2);
    }

    [Fact]
    public void Dials_that_fail_for_the_same_reason_are_logged_once_and_then_counted()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var a = mesh.Add("a");
        a.Mesh.Connect(new IPEndPoint(IPAddress.Loopback, 99));
        for (var dial = 1; dial <= 100; dial++)
        {
            mesh.Until(() => a.Events.Count == dial);
            mesh.Clock.Advance(a.Mesh.Options.SearchMax);
        }

        // 100 dials in 20 s.
        var lines = a.Log.Where(static line => line.StartsWith("1004", StringComparison.Ordinal)).ToArray();
        Assert.Equal(2, lines.Length);
        Assert.Contains("Dial 1 of", lines[0]);
        Assert.Contains("Dial 51 of", lines[1]);
    }

    [Theory, MemberData(nameof(Wires.All), MemberType = typeof(Wires))]
    public void A_dial_that_finds_nobody_is_repeated_after_the_back_off(Wire wire)
    {
        using var mesh = new TestMesh(wire);
        var (a, b) = (mesh.Add("a"), mesh.Add("b", listen: wire.IsMemory));
        EndPoint target = wire.IsMemory ? new IPEndPoint(IPAddress.Loopback, 99) : new IPEndPoint(IPAddress.Loopback, 1);
        var peer = a.Mesh.Connect(target);
        mesh.Until(() => a.Events.Count == 1);
        Assert.Equal(["!ConnectRefused"], a.Events);
        mesh.Rounds(10);
        Assert.Single(a.Events);
        mesh.Clock.Advance(TimeSpan.FromMilliseconds(100));
        mesh.Until(() => a.Events.Count == 2);
        if (wire.IsMemory)
        {
            b.Mesh.Listen(target, NodeKind.Silo);
            mesh.Clock.Advance(TimeSpan.FromMilliseconds(200));
            mesh.Until(() => peer.State == PeerState.Connected);
        }
    }

    [Fact]
    public void A_broken_session_is_reported_at_both_ends_and_dialled_again()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b, peer, _) = mesh.Pair(options => options.LinksPerPeer = 3);
        Assert.Equal(4, mesh.Network.Break(a.EndPoint, b.EndPoint));
        mesh.Until(() => a.Mesh.LinkCount == 0 && b.Mesh.LinkCount == 0);
        mesh.Rounds(3);
        Assert.Equal(["+b", "-b:Reset"], a.Events);
        Assert.Equal(["+a", "-a:Reset"], b.Events);
        Assert.Equal(PeerState.Connecting, peer.State);
        mesh.Clock.Advance(TimeSpan.FromMilliseconds(50));
        mesh.Until(() => peer.State == PeerState.Connected && b.Connected.Count == 1);
        Assert.Equal(3, peer.DataLinks);
        Assert.Same(peer.GetLink(5), peer.GetLink(8));
        Assert.NotSame(peer.GetLink(5), peer.GetLink(6));
    }

    [Fact]
    public void Links_with_a_name_are_the_same_at_both_ends_and_a_name_without_links_has_those_without_a_name()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var a = mesh.Add("a", options => options.NamedLinks = [new("bulk", 2), new("news", 1)]);
        var b = mesh.Add("b", options => options.NamedLinks = [new("mail", 1), new("news", 3)]);
        var ab = a.Mesh.Connect(b.EndPoint);
        mesh.Until(() => ab.State == PeerState.Connected && b.Connected.Count == 1, "connected");
        var ba = b.Connected[0];
        // As the end that dials says.
        Assert.Equal((1, 4, 1, 4), (ab.DataLinks, ab.Links.Count, ba.DataLinks, ba.Links.Count));
        Assert.Equal([1, 2], [ab.GetLink(0, 1)!.Index, ab.GetLink(1, 1)!.Index]);
        Assert.Equal([3, 3], [ab.GetLink(8, 2)!.Index, ba.GetLink(9, 2)!.Index]);
        Assert.Same(ba.GetLink(5), ba.GetLink(5, 1));
        Assert.Same(ab.GetLink(5), ab.GetLink(5, 0));
        foreach (var link in ba.Links)
            Assert.Equal(SendResult.Accepted, link.TryAppend(Number(1)));
        mesh.Until(() => a.AllFrames.Count() == 4, "frames");
    }

    [Theory]
    [InlineData(new byte[] { 0, 1 })]
    [InlineData(new byte[] { 3, 65, 1 })]
    [InlineData(new byte[] { 1, 65, 0 })]
    [InlineData(new byte[] { 1, 65, 2, 1, 66, 1 })]
    public void A_layout_that_does_not_fit_its_links_is_none(byte[] bytes)
    {
        Assert.Null(LinkLayout.Decode(bytes, 3));
        Assert.NotNull(LinkLayout.Decode([1, 65, 1, 1, 66, 1], 3));
    }

    [Fact]
    public void A_stopped_search_dials_no_more_and_a_new_one_does()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var a = mesh.Add("a");
        var nobody = new IPEndPoint(IPAddress.Loopback, 99);
        var peer = a.Mesh.Connect(nobody);
        a.Mesh.StopSearching(peer);
        mesh.Until(() => peer.State == PeerState.Closed);
        Assert.Equal(["!ConnectRefused"], a.Events);
        mesh.Clock.Advance(TimeSpan.FromSeconds(60));
        mesh.Rounds(10);
        Assert.Single(a.Events);
        Assert.NotSame(peer, a.Mesh.Connect(nobody));
        mesh.Until(() => a.Events.Count == 2);
    }

    [Theory, InlineData(false), InlineData(true)]
    public void A_node_whose_search_was_stopped_or_that_was_given_up_before_somebody_connected_it_is_dialled_again(bool isGivenUp)
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b, peer, _) = mesh.Pair();
        if (isGivenUp)
        {
            peer.Keep = false;
            Assert.Same(peer, a.Mesh.Connect(b.EndPoint, b.Mesh.Id));
        }
        else
        {
            a.Mesh.StopSearching(peer);
        }

        mesh.Network.Break(a.EndPoint, b.EndPoint);
        mesh.Until(() => a.Mesh.LinkCount == 0 && b.Mesh.LinkCount == 0);
        mesh.Rounds(3);
        mesh.Clock.Advance(TimeSpan.FromMilliseconds(50));
        mesh.Until(() => peer.State == PeerState.Connected);
    }

    [Fact]
    public void A_partition_delays_frames_and_healing_delivers_them()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b, peer, _) = mesh.Pair();
        mesh.Network.Partition(a.EndPoint, b.EndPoint);
        peer.GetLink(0)!.TryAppend(Number(1));
        mesh.Rounds(5);
        Assert.Empty(b.AllFrames);
        mesh.Network.Heal(a.EndPoint, b.EndPoint);
        mesh.Until(() => b.AllFrames.Any());
    }

    [Fact]
    public void Delayed_bytes_arrive_when_the_clock_says_so()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (_, b, peer, _) = mesh.Pair();
        mesh.Network.Delay = (_, _) => TimeSpan.FromSeconds(1);
        peer.GetLink(0)!.TryAppend(Number(1));
        mesh.Rounds(5);
        mesh.Clock.Advance(TimeSpan.FromMilliseconds(999));
        mesh.Rounds(5);
        Assert.Empty(b.AllFrames);
        mesh.Clock.Advance(TimeSpan.FromMilliseconds(1));
        mesh.Until(() => b.AllFrames.Any());
    }

    [Fact]
    public void Whoever_connects_and_says_nothing_is_dropped_in_time()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b");
        using var silent = mesh.Network.CreateTransport(new IPEndPoint(IPAddress.Loopback, 77)).Dial(b.EndPoint);
        mesh.Rounds(3);
        Assert.Equal(1, b.Mesh.LinkCount);
        mesh.Clock.Advance(TimeSpan.FromSeconds(5));
        mesh.Until(() => b.Mesh.LinkCount == 0);
        mesh.Rounds(2);
        Assert.Contains("HandshakeTimeout", Assert.Single(b.Log));
    }

    [Fact]
    public void Another_node_than_the_expected_one_is_refused()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b) = (mesh.Add("a"), mesh.Add("b"));
        a.Mesh.Connect(b.EndPoint, new NodeId("b@old", NodeKind.Silo));
        mesh.Until(() => a.Events.Contains("!WrongNode"));
        Assert.Empty(a.Connected);
    }

    [Fact]
    public void The_control_channel_has_a_link_of_its_own()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (_, b, peer, _) = mesh.Pair();
        peer.Control!.TryAppend(Number(1));
        peer.GetLink(0)!.TryAppend(Number(2));
        mesh.Until(() => b.AllFrames.Count() == 2);
        Assert.Equal(1, Number(b.Frames.Single(pair => pair.Key.Channel == Channel.Control).Value[0]));
    }

    [Theory, MemberData(nameof(Wires.All), MemberType = typeof(Wires))]
    public void Changing_the_pollers_under_load_loses_and_reorders_nothing(Wire wire)
    {
        using var mesh = new TestMesh(wire, pipeBytes: 5000);
        var (_, b, peer, _) = mesh.Pair(options => options.LinksPerPeer = 5);
        var random = new Random(3);
        for (var i = 0; i < 2000; i++)
        {
            Assert.Equal(SendResult.Accepted, peer.GetLink((uint)(i % 5))!.TryAppend(Number(i / 5, random.Next(4, 900))));
            if (i % 20 == 0)
            {
                b.Mesh.SetPollers(random.Next(1, 6));
                mesh.Round();
            }
        }

        mesh.Until(() => b.AllFrames.Count() == 2000);
        Assert.All(b.Frames.Values, frames => Assert.Equal(Enumerable.Range(0, 400), frames.Select(frame => Number(frame))));
    }

    [Fact]
    public void An_option_out_of_range_fails_by_its_name()
    {
        var error = Assert.Throws<ArgumentException>(() => new MeshOptions { LinksPerPeer = 0 }.Validate());
        Assert.Contains("MeshOptions.LinksPerPeer", error.Message);
        IReadOnlyList<NamedLinks>[] wrong =
            [[new("", 1)], [new("a", 0)], [new("a", 64)], [new("a", 1), new("a", 1)], [new(new string('n', 65), 1)]];
        foreach (var named in wrong)
        {
            error = Assert.Throws<ArgumentException>(() => new MeshOptions { NamedLinks = named }.Validate());
            Assert.Contains("MeshOptions.NamedLinks", error.Message);
        }

    }
}
