#pragma warning disable RS0030 // A dial fails as sockets do.
using System.Net;
using System.Net.Sockets;
using ActOp.Mesh.Transports;
using static ActOp.Mesh.Tests.TestNode;

namespace ActOp.Mesh.Tests;

/// <summary>What fails costs itself and nothing else.</summary>
public class FailureTests
{
    [Fact]
    public void A_dial_that_throws_is_a_failed_dial_and_stops_no_other()
    {
        using var mesh = new TestMesh(Wire.Memory);
        FaultyTransport faulty = null!;
        var a = mesh.Add("a", wrap: transport => faulty = new FaultyTransport(transport));
        var (b, c) = (mesh.Add("b"), mesh.Add("c"));
        faulty.FailAt(b.EndPoint);
        var first = a.Mesh.Connect(b.EndPoint);
        var second = a.Mesh.Connect(c.EndPoint);
        mesh.Until(() => second.State == PeerState.Connected);
        Assert.Equal(["!ConnectFailed", "+c"], a.Events);
        Assert.Equal(1, faulty.Dials[b.EndPoint]);
        faulty.FailAt(null);
        mesh.Clock.Advance(TimeSpan.FromSeconds(1));
        mesh.Until(() => first.State == PeerState.Connected, "dialled again");
        Assert.Equal(0, b.Mesh.LinkCount - first.DataLinks - 1);
    }

    [Fact]
    public void A_dial_that_throws_halfway_closes_what_it_had_opened()
    {
        using var mesh = new TestMesh(Wire.Memory);
        FaultyTransport faulty = null!;
        var a = mesh.Add("a", options => options.LinksPerPeer = 4, wrap: transport => faulty = new FaultyTransport(transport));
        var b = mesh.Add("b");
        faulty.FailAt(b.EndPoint, after: 3);
        a.Mesh.Connect(b.EndPoint);
        mesh.Until(() => a.Events.Count == 1 && a.Mesh.LinkCount == 0 && b.Mesh.LinkCount == 0);
        Assert.Equal(["!ConnectFailed"], a.Events);
    }

    [Fact]
    public void An_event_whose_receiver_throws_stops_no_other()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b");
        var others = Enumerable.Range(0, 8).Select(i => mesh.Add("a" + i)).ToArray();
        b.OnPeer = (peer, _) =>
        {
            if (peer.Name == "a0")
            {
                throw new InvalidOperationException("a0");
            }
        };
        foreach (var other in others)
        {
            other.Mesh.Connect(b.EndPoint);
        }

        // All at once, so that they are in one report of b's poller.
        mesh.Until(() => others[1..].All(other => other.Connected.Count == 1) && b.Events.Contains("-a0:ReceiverFailed"));
        foreach (var other in others[1..])
        {
            other.Connected[0].GetLink(0)!.TryAppend(Number(1));
        }

        mesh.Until(() => b.AllFrames.Count() == others.Length - 1);
        b.OnPeer = null;
        mesh.Clock.Advance(TimeSpan.FromSeconds(1));
        mesh.Until(() => b.Connected.Count == others.Length, "a0 comes again");
    }

    [Fact]
    public void A_large_frame_under_way_survives_a_change_of_the_pollers()
    {
        using var mesh = new TestMesh(Wire.Memory, pipeBytes: 50_000);
        var (_, b, peer, _) = mesh.Pair();
        var body = new byte[3_000_000];
        new Random(4).NextBytes(body);
        peer.GetLink(0)!.TryAppend(body);
        peer.GetLink(0)!.TryAppend(Number(7));
        for (var round = 0; !b.AllFrames.Any(); round++)
        {
            Assert.True(round < 1000);
            b.Mesh.SetPollers(1 + (round % 3));
            mesh.Round();
        }

        mesh.Until(() => b.AllFrames.Count() == 2);
        Assert.Equal(body, b.AllFrames.First());
        Assert.Equal(7, Number(b.AllFrames.Last()));
    }

    [Fact]
    public void Nothing_begins_after_the_end()
    {
        using var mesh = new TestMesh(Wire.Memory);
        FaultyTransport counting = null!;
        var a = mesh.Add("a", wrap: transport => counting = new FaultyTransport(transport));
        var b = mesh.Add("b");
        a.Mesh.Dispose();
        var sets = counting.Sets;
        a.Mesh.SetPollers(8);
        var peer = a.Mesh.Connect(b.EndPoint);
        mesh.Rounds(3);
        Assert.Equal(sets, counting.Sets);
        Assert.Empty(counting.Dials);
        Assert.Equal(PeerState.Closed, peer.State);
        Assert.Empty(a.Mesh.Peers());
        Assert.Equal(0, b.Mesh.LinkCount);
    }

    [Fact]
    public void A_node_that_ends_while_a_link_is_to_change_its_poller_closes_it()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b) = (mesh.Add("a"), mesh.Add("b"));
        var peer = a.Mesh.Connect(b.EndPoint);
        mesh.Until(() => peer.State == PeerState.Connected);
        a.Mesh.Dispose();
        mesh.Until(() => b.Mesh.LinkCount == 0);
        Assert.Equal(0, a.Mesh.LinkCount);
    }

    [Fact]
    public void A_node_that_stops_dials_nobody_any_more()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b) = (mesh.Add("a"), mesh.Add("b"));
        a.Mesh.Stop();
        var peer = a.Mesh.Connect(b.EndPoint, new NodeId("b", NodeKind.Silo));
        mesh.Rounds(3);
        Assert.Equal(PeerState.Closed, peer.State);
        Assert.Empty(a.Mesh.Peers());
        Assert.Equal(0, b.Mesh.LinkCount);
    }

    /// <summary>Strangers take places, and give them to whoever comes later.</summary>
    [Fact]
    public void A_dialler_that_answers_gets_in_however_many_strangers_say_nothing()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b", options => options.MaxPendingHandshakes = 16);
        var transport = mesh.Network.CreateTransport(new IPEndPoint(IPAddress.Parse("10.0.0.7"), 77));
        var strangers = Enumerable.Range(0, 50).Select(_ => transport.Dial(b.EndPoint)).ToArray();
        var a = mesh.Add("a", options => options.LinksPerPeer = 2);
        var peer = a.Mesh.Connect(b.EndPoint);
        mesh.Rounds(10);
        Assert.Equal(PeerState.Connected, peer.State);
        Assert.Equal(16 - 3 + 3, b.Mesh.LinkCount);
        Array.ForEach(strangers, stranger => stranger.Dispose());
    }

    [Fact]
    public void A_peer_that_has_vanished_is_given_up()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b, _, _) = mesh.Pair();
        mesh.Network.Partition(a.EndPoint, b.EndPoint);
        Pass(mesh, seconds: 20);
        Assert.Single(b.Connected);
        Pass(mesh, seconds: 40);
        Assert.Equal(["+a", "-a:Silent"], b.Events);
        Assert.Equal(["+b", "-b:Silent"], a.Events[..2]);
        Assert.Equal(0, b.Mesh.LinkCount);
    }

    [Theory, InlineData(Wire.Memory), InlineData(Wire.Tcp), InlineData(Wire.PortableTcp)]
    public void Peers_that_have_nothing_to_say_stay_connected(Wire wire)
    {
        using var mesh = new TestMesh(wire);
        var (a, b, peer, _) = mesh.Pair();
        Pass(mesh, seconds: 200);
        peer.Control!.TryAppend(Number(1));
        peer.GetLink(0)!.TryAppend(Number(2));
        mesh.Until(() => b.AllFrames.Count() == 2);
        Assert.Equal(["+b"], a.Events);
        Assert.Equal(["+a"], b.Events);
    }

    /// <summary>What has come while this process stood still is read before anybody is given up.</summary>
    [Fact]
    public void A_node_that_stood_still_itself_gives_up_nobody()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b, _, _) = mesh.Pair();
        mesh.Clock.Advance(TimeSpan.FromMinutes(10));
        mesh.Rounds(5);
        Pass(mesh, seconds: 60);
        Assert.Equal(["+b"], a.Events);
        Assert.Equal(["+a"], b.Events);
    }

    private static void Pass(TestMesh mesh, int seconds)
    {
        for (; seconds > 0; seconds -= 2)
        {
            mesh.Clock.Advance(TimeSpan.FromSeconds(2));
            mesh.Rounds(3);
        }
    }

    /// <summary>A transport whose dials fail on demand, as they do when no descriptor is left.</summary>
    private sealed class FaultyTransport(Transport inner) : Transport
    {
        private EndPoint? _failing;
        private int _good;

        public Dictionary<EndPoint, int> Dials { get; } = [];

        public int Sets { get; private set; }

        public void FailAt(EndPoint? endPoint, int after = 0) => (_failing, _good) = (endPoint, after);

        public override ByteStream Dial(EndPoint endPoint)
        {
            Dials[endPoint] = Dials.GetValueOrDefault(endPoint) + 1;
            return endPoint.Equals(_failing) && Dials[endPoint] > _good
                ? throw new SocketException((int)SocketError.TooManyOpenSockets) : inner.Dial(endPoint);
        }

        public override Listener Listen(EndPoint endPoint, Action<ByteStream> accepted, Action<Exception> failed) =>
            inner.Listen(endPoint, accepted, failed);

        public override Readiness CreateReadiness()
        {
            Sets++;
            return inner.CreateReadiness();
        }
    }
}
