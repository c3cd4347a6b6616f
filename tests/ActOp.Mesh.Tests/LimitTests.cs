using System.Diagnostics.Metrics;
using System.Net;

namespace ActOp.Mesh.Tests;

/// <summary>What one node can make another hold.</summary>
public class LimitTests
{
    [Fact]
    public void A_listener_that_has_too_many_connections_refuses_further_ones_and_says_so()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b", options => options.MaxConnections = 5);
        using var refusals = new Refusals(b);
        var nodes = Enumerable.Range(0, 3).Select(i => mesh.Add("a" + i)).ToArray();
        foreach (var node in nodes)
        {
            node.Mesh.Connect(b.EndPoint);
            mesh.Until(() => node.Events.Count > 0);
        }

        Assert.Equal("!TooManyConnections", nodes[2].Events[0]);
        Assert.Equal(2, b.Connected.Count);
        Assert.Contains(b.Log, line => line.StartsWith("1003") && line.Contains("TooManyConnections"));
        Assert.True(refusals.Of("TooManyConnections") > 0);
        nodes[0].Mesh.Dispose();
        mesh.Until(() => b.Connected.Count == 1);
        mesh.Clock.Advance(TimeSpan.FromSeconds(1));
        mesh.Until(() => nodes[2].Connected.Count == 1);
    }

    [Fact]
    public void An_address_that_has_too_many_connections_gets_no_more_and_others_do()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b", options => options.MaxConnectionsPerAddress = 10);
        var strangers = Enumerable.Range(0, 30).Select(i => RawEnd.Dial(mesh, b.EndPoint, 7_000 + i)).ToArray();
        mesh.Rounds(3);
        Assert.Equal(10, b.Mesh.LinkCount);
        Assert.Contains("TooManyConnectionsOfAddress", b.Log[0]);
        Assert.NotNull(strangers[^1].Next());
        var elsewhere = mesh.Network.CreateTransport(new IPEndPoint(IPAddress.Parse("10.0.0.7"), 1));
        using var other = new RawEnd(elsewhere.Dial(b.EndPoint));
        mesh.Rounds(3);
        Assert.Equal(11, b.Mesh.LinkCount);
        Array.ForEach(strangers, stranger => stranger.Dispose());
        mesh.Until(() => b.Mesh.LinkCount == 1);
        using var again = RawEnd.Dial(mesh, b.EndPoint);
        mesh.Rounds(3);
        Assert.Equal(2, b.Mesh.LinkCount);
    }

    [Fact]
    public void Who_announces_large_frames_and_sends_most_of_each_loses_links_and_nobody_else_does()
    {
        const int frame = 1 << 20;
        using var mesh = new TestMesh(Wire.Memory, pipeBytes: 2 << 20);
        var b = mesh.Add("b", options => (options.MaxFrameBytes, options.MaxUnfinishedBytes, options.MaxUnfinishedClientBytes) =
            (2 * frame, 64 * frame, 8 * frame), accepts: NodeKind.Client);
        var honest = mesh.Add("honest", listen: false, kind: NodeKind.Client);
        honest.Mesh.Connect(b.EndPoint);
        mesh.Until(() => b.Connected.Count == 1);
        mesh.Rounds(3);
        var liars = Enumerable.Range(0, 12).Select(i => Liar.Connect(mesh, b, "liar" + i, IPAddress.Parse("10.0.0.7"))).ToArray();
        var most = 0L;
        honest.Mesh.Peers()[0].GetLink(0)!.TryAppend(new byte[frame]);
        foreach (var liar in liars)
        {
            liar.Begin(frame, sent: frame - 100);
            for (var i = 0; i < 4; i++)
            {
                mesh.Round();
                most = Math.Max(most, b.Mesh.Unfinished.All);
            }
        }

        mesh.Until(() => b.AllFrames.Any(), "the frame of the honest client");
        Assert.InRange(most, frame, 9 * frame);
        Assert.Contains("+honest", b.Events);
        Assert.DoesNotContain(b.Events, line => line.StartsWith("-honest"));
        Assert.Contains(b.Events, line => line.EndsWith(":TooManyUnfinishedBytes"));
        Assert.Contains(b.Log, line => line.StartsWith("1005") && line.Contains("TooManyUnfinishedBytes"));
        Array.ForEach(liars, liar => liar.Dispose());
        mesh.Until(() => b.Connected.Count == 1);
        Assert.Equal(0, b.Mesh.Unfinished.All);
    }

    [Fact]
    public void A_frame_from_a_client_may_be_limited_more_than_one_from_a_silo()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b", options => (options.MaxFrameBytes, options.MaxClientFrameBytes) = (1000, 100), accepts: NodeKind.Client);
        var client = mesh.Add("client", listen: false, kind: NodeKind.Client);
        var peer = client.Mesh.Connect(b.EndPoint);
        mesh.Until(() => peer.State == PeerState.Connected && b.Connected.Count == 1);
        peer.GetLink(0)!.TryAppend(new byte[100]);
        mesh.Until(() => b.AllFrames.Any());
        b.Connected[0].GetLink(0)!.TryAppend(new byte[1000]);
        mesh.Until(() => client.AllFrames.Any());
        peer.GetLink(0)!.TryAppend(new byte[101]);
        mesh.Until(() => b.Events.Contains("-client:FrameTooLarge"));
    }

    [Fact]
    public void Dials_beyond_the_limit_of_a_second_wait_for_their_turn()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var a = mesh.Add("a", options => options.MaxDialsPerSecond = 10);
        var others = Enumerable.Range(0, 25).Select(i => mesh.Add("b" + i)).ToArray();
        foreach (var other in others)
        {
            a.Mesh.Connect(other.EndPoint, new NodeId(other.Mesh.Id.Name, NodeKind.Silo));
        }

        mesh.Rounds(10);
        Assert.Equal(10, a.Connected.Count);
        mesh.Clock.Advance(TimeSpan.FromSeconds(1));
        mesh.Rounds(10);
        Assert.Equal(20, a.Connected.Count);
        mesh.Clock.Advance(TimeSpan.FromSeconds(1));
        mesh.Rounds(10);
        Assert.Equal(25, a.Connected.Count);
    }

    [Theory, InlineData(1), InlineData(40)]
    public void Who_sends_a_byte_a_second_is_cut_by_the_deadline_of_the_handshake(int bytesAtOnce)
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b");
        using var slow = RawEnd.Dial(mesh, b.EndPoint);
        var hello = new HandshakeFrame
        {
            Kind = HandshakeKind.Hello,
            Nonce = new byte[32],
            Cluster = new byte[32],
            Service = new byte[32],
            NodeKind = NodeKind.Silo,
            Name = new string('x', 500),
        }.Encode();
        byte[] bytes = [.. BitConverter.GetBytes(hello.Length), .. hello];
        var seconds = 0;
        for (; b.Mesh.LinkCount > 0 || seconds == 0; seconds++)
        {
            Assert.True(seconds < 10);
            slow.Send(bytes.AsSpan(seconds * bytesAtOnce, bytesAtOnce));
            mesh.Rounds(2);
            mesh.Clock.Advance(TimeSpan.FromSeconds(1));
            mesh.Rounds(3);
        }

        Assert.InRange(seconds, 5, 6);
        Assert.Contains("HandshakeTimeout", Assert.Single(b.Log));
    }

    [Fact]
    public void Refusals_do_not_fill_the_log_and_are_all_counted()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b", options => options.MaxConnections = 1);
        using var refusals = new Refusals(b);
        using var first = RawEnd.Dial(mesh, b.EndPoint);
        for (var i = 0; i < 500; i++)
        {
            RawEnd.Dial(mesh, b.EndPoint).Dispose();
        }

        Assert.Equal(500, refusals.Of("TooManyConnections"));
        Assert.Equal(20, b.Log.Count);
        mesh.Clock.Advance(TimeSpan.FromSeconds(1));
        RawEnd.Dial(mesh, b.EndPoint).Dispose();
        Assert.StartsWith("1012: 480 more", b.Log[20]);
    }

    /// <summary>The refusals that a node counts, by reason.</summary>
    private sealed class Refusals : IDisposable
    {
        private readonly MeterListener _listener = new();
        private readonly Dictionary<string, long> _counts = [];

        public Refusals(TestNode node)
        {
            _listener.InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Name == "actop.mesh.handshake.failures"
                    && instrument.Meter.Tags!.Any(tag => tag.Value!.Equals(node.Mesh.Id.Name)))
                {
                    listener.EnableMeasurementEvents(instrument);
                }
            };
            _listener.SetMeasurementEventCallback<long>((_, count, tags, _) =>
            {
                var reason = tags[0].Value!.ToString()!;
                lock (_counts)
                {
                    _counts[reason] = _counts.GetValueOrDefault(reason) + count;
                }
            });
            _listener.Start();
        }

        public long Of(string reason)
        {
            lock (_counts)
            {
                return _counts.GetValueOrDefault(reason);
            }
        }

        public void Dispose() => _listener.Dispose();
    }
}

/// <summary>Tests that measure the whole process and so run while no other does.</summary>
[CollectionDefinition(nameof(Alone), DisableParallelization = true)]
public sealed class Alone;

[Collection(nameof(Alone))]
public class IdleTests
{
    [Fact]
    public void Ten_thousand_clients_that_say_nothing_cost_little_and_stop_nobody()
    {
        using var mesh = new TestMesh(Wire.Memory, pipeBytes: 1024);
        var b = mesh.Add("b", options => options.MaxConnectionsPerAddress = 20_000, accepts: NodeKind.Client);
        var before = GC.GetTotalMemory(forceFullCollection: true);
        var idle = Enumerable.Range(0, 5_000).Select(i => Liar.Connect(mesh, b, "idle" + i, IPAddress.Parse("10.0.0.7"))).ToArray();
        Assert.Equal(5_000, b.Connected.Count);
        Assert.Equal(10_000, b.Mesh.LinkCount);
        // Both ends of each connection are in this process, with 2 KiB of pipes. A link keeps two buffers of 4 KiB for what it sends.
        Assert.InRange((GC.GetTotalMemory(forceFullCollection: true) - before) / 10_000, 0, 16_000);
        var client = mesh.Add("client", listen: false, kind: NodeKind.Client);
        var peer = client.Mesh.Connect(b.EndPoint);
        mesh.Until(() => peer.State == PeerState.Connected && b.Connected.Count == 5_001);
        peer.GetLink(0)!.TryAppend(TestNode.Number(1));
        mesh.Until(() => b.AllFrames.Any());
        Array.ForEach(idle, one => one.Dispose());
    }
}
