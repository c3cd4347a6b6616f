using System.Net;

namespace ActOp.Mesh.Tests;

/// <summary>Who wants to keep others out of a node, or to make it hold more than his part.</summary>
public class FloodTests
{
    private static readonly byte[] Secret = [.. Enumerable.Range(0, 32).Select(static i => (byte)i)];

    /// <summary>
    /// A thousand connections in a second, each of which says something before the greeting has reached it. An honest handshake takes two
    /// round trips of 5 ms, and a session needs two of them. Each flood comes from the address of the honest, or from another one.
    /// </summary>
    [Theory, InlineData("127.0.0.1"), InlineData("10.0.0.7")]
    public void Honest_diallers_get_in_over_round_trips_beside_a_flood_without_the_secret(string from)
    {
        using var mesh = new TestMesh(Wire.Memory, pipeBytes: 4096);
        mesh.Network.Delay = static (_, _) => TimeSpan.FromMilliseconds(2.5);
        var random = new Random(22);
        var b = mesh.Add("b", options =>
        {
            options.SiloSecrets = [Secret];
            options.MaxPendingHandshakes = 256;
            options.MaxConnectionsPerAddress = options.MaxConnections;
            options.Random = bytes => random.NextBytes(bytes);
        });
        using var flood = new Flood(mesh, b, IPAddress.Parse(from));
        flood.Add(300);
        Pass(mesh, 5);
        var honest = Enumerable.Range(0, 6).Select(i => mesh.Add("a" + i, options => options.SiloSecrets = [Secret])).ToArray();
        var peers = Array.ConvertAll(honest, node => node.Mesh.Connect(b.EndPoint));
        var waited = 0;
        for (; waited < 2_000 && peers.Any(static peer => peer.State != PeerState.Connected); waited++)
        {
            flood.Add(1);
            Pass(mesh, 1);
        }

        Assert.All(peers, static peer => Assert.Equal(PeerState.Connected, peer.State));
        // All places but those that the honest have left just now.
        Assert.InRange(b.Mesh.PendingHandshakes.Count, 256 - (2 * honest.Length), 256);
    }

    [Fact]
    public void Who_has_shown_what_he_knows_is_not_replaced_by_strangers()
    {
        using var mesh = new TestMesh(Wire.Memory, pipeBytes: 4096);
        var b = mesh.Add("b", options => options.MaxPendingHandshakes = 4);
        using var slow = RawEnd.Dial(mesh, b.EndPoint);
        mesh.Rounds(2);
        Liar.Hello(slow, "slow", NodeKind.Silo);
        mesh.Rounds(2);
        using var flood = new Flood(mesh, b, IPAddress.Loopback);
        for (var i = 0; i < 100; i++)
        {
            flood.Add(1);
            mesh.Rounds(2);
        }

        Assert.NotNull(slow.Next());
        Assert.False(slow.IsOver);
        Assert.Equal(5, b.Mesh.PendingHandshakes.Count);
    }

    [Theory, InlineData(null), InlineData(0), InlineData(int.MaxValue)]
    public void A_node_that_announces_no_keep_alives_or_rare_ones_and_says_nothing_is_given_up(int? announced)
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b", accepts: NodeKind.Client);
        using var silent = Liar.Connect(mesh, b, "silent", IPAddress.Parse("10.0.0.7"), announced);
        Assert.Single(b.Connected);
        for (var seconds = 0; seconds < 120; seconds += 2)
        {
            mesh.Clock.Advance(TimeSpan.FromSeconds(2));
            mesh.Rounds(3);
        }

        Assert.Equal(["+silent", "-silent:Silent"], b.Events);
    }

    [Fact]
    public void The_links_of_a_client_share_one_queue_however_many_it_opens()
    {
        using var mesh = new TestMesh(Wire.Memory, pipeBytes: 4096);
        var b = mesh.Add("b", accepts: NodeKind.Client);
        var client = mesh.Add("client", options => options.LinksPerPeer = 16, listen: false, kind: NodeKind.Client);
        client.Mesh.Connect(b.EndPoint);
        mesh.Until(() => b.Connected.Count == 1);
        b.HoldFlushes = true;
        var held = 0L;
        for (var index = 0u; index < 16; index++)
        {
            var link = b.Connected[0].GetLink(index)!;
            while (link.TryAppend(new byte[16 << 10]) == SendResult.Accepted)
            {
            }

            held += link.QueuedBytes;
        }

        Assert.InRange(held, 6 << 20, 8 << 20);
    }

    [Fact]
    public void Clients_that_do_not_read_what_they_asked_for_are_closed_and_honest_ones_are_not()
    {
        using var mesh = new TestMesh(Wire.Memory, pipeBytes: 4096);
        var b = mesh.Add("b", options => (options.MaxFrameBytes, options.MaxUnfinishedBytes, options.MaxUnfinishedClientBytes) =
            (1 << 20, 64 << 20, 16 << 20), accepts: NodeKind.Client);
        var honest = mesh.Add("honest", listen: false, kind: NodeKind.Client);
        honest.Mesh.Connect(b.EndPoint);
        mesh.Until(() => b.Connected.Count == 1);
        mesh.Rounds(3);
        var liars = Enumerable.Range(0, 6).Select(i => Liar.Connect(mesh, b, "liar" + i, IPAddress.Parse("10.0.0.7"))).ToArray();
        Assert.Equal(7, b.Connected.Count);
        var most = 0L;
        foreach (var peer in b.Connected.ToArray())
        {
            for (var i = 0; i < (peer.Id!.Name == "honest" ? 3 : 7); i++)
            {
                peer.GetLink(0)?.TryAppend(new byte[1_000_000]);
                mesh.Round();
                most = Math.Max(most, b.Mesh.Unfinished.All);
            }
        }

        mesh.Until(() => honest.AllFrames.Count() == 3, "the answers of the honest client");
        Assert.InRange(most, 1 << 20, 18 << 20);
        Assert.Contains(b.Events, line => line.StartsWith("-liar") && line.EndsWith(":TooManyUnfinishedBytes"));
        Assert.DoesNotContain(b.Events, line => line.StartsWith("-honest"));
        Array.ForEach(liars, liar => liar.Dispose());
        mesh.Until(() => b.Connected.Count == 1);
        Assert.Equal(0, b.Mesh.Unfinished.All);
    }

    private static void Pass(TestMesh mesh, int milliseconds)
    {
        for (; milliseconds > 0; milliseconds--)
        {
            mesh.Clock.Advance(TimeSpan.FromMilliseconds(1));
            mesh.Rounds(2);
        }
    }

    /// <summary>Connections of one address that send a byte at once, and no more.</summary>
    private sealed class Flood(TestMesh mesh, TestNode target, IPAddress from) : IDisposable
    {
        private readonly List<RawEnd> _ends = [];

        public void Add(int count)
        {
            var transport = mesh.Network.CreateTransport(new IPEndPoint(from, 66));
            for (; count > 0; count--)
            {
                var end = new RawEnd(transport.Dial(target.EndPoint));
                end.Send([40]);
                _ends.Add(end);
            }
        }

        public void Dispose() => _ends.ForEach(static end => end.Dispose());
    }
}
