using System.Net;
using System.Text;

namespace ActOp.Mesh.Tests;

/// <summary>A node sees whether another one can be dialled at an endpoint, without a session.</summary>
public class AskTests
{
    private static readonly NodeId B = new("b", NodeKind.Silo);

    [Theory, MemberData(nameof(Wires.All), MemberType = typeof(Wires))]
    public void The_expected_node_answers_and_nothing_is_left_at_either_end(Wire wire)
    {
        using var mesh = new TestMesh(wire);
        var (a, b) = (mesh.Add("a"), mesh.Add("b"));
        Assert.Equal([null], Ask(mesh, a, b.EndPoint));
        mesh.Until(() => a.Mesh.LinkCount == 0 && b.Mesh.LinkCount == 0, "closed");
        Assert.Empty(a.Events.Concat(b.Events));
        Assert.Empty(a.Mesh.Peers().Concat(b.Mesh.Peers()));
        Assert.DoesNotContain(b.Log, static line => line.StartsWith("1003", StringComparison.Ordinal));
    }

    [Fact]
    public void A_session_with_the_same_node_is_not_touched()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b, peer, _) = mesh.Pair();
        var links = a.Mesh.LinkCount;
        Assert.Equal([null], Ask(mesh, a, b.EndPoint));
        mesh.Until(() => a.Mesh.LinkCount == links && b.Mesh.LinkCount == links, "closed");
        Assert.Equal(SendResult.Accepted, peer.GetLink(0)!.TryAppend(TestNode.Number(1)));
        mesh.Until(() => b.AllFrames.Any(), "a frame");
        Assert.Equal(["+b"], a.Events);
        Assert.Equal(["+a"], b.Events);
    }

    [Fact]
    public void Another_node_at_the_endpoint_is_not_the_expected_one()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, c) = (mesh.Add("a"), mesh.Add("c"));
        Assert.Equal([DisconnectReason.WrongNode], Ask(mesh, a, c.EndPoint));
        Assert.Empty(a.Events.Concat(c.Events));
    }

    [Fact]
    public void Settings_that_do_not_fit_are_named()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var a = mesh.Add("a", options => options.SiloSecrets = [Encoding.UTF8.GetBytes("the first secret of this cluster")]);
        var stranger = mesh.Add("b", options => options.SiloSecrets = [Encoding.UTF8.GetBytes("another secret that is long enough")]);
        Assert.Equal([DisconnectReason.NotAuthenticated], Ask(mesh, a, stranger.EndPoint));
        var c = mesh.Add("c", options => options.ClusterId = "one");
        var other = mesh.Add("b", options => options.ClusterId = "other");
        Assert.Equal([DisconnectReason.WrongCluster], Ask(mesh, c, other.EndPoint));
    }

    [Fact]
    public void An_endpoint_at_which_nobody_listens_is_refused_and_not_dialled_again()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var a = mesh.Add("a");
        var answers = Ask(mesh, a, new IPEndPoint(IPAddress.Loopback, 99));
        Assert.Equal([DisconnectReason.ConnectRefused], answers);
        mesh.Clock.Advance(a.Mesh.Options.ReconnectMax);
        mesh.Rounds(10);
        Assert.Single(answers);
        Assert.Empty(a.Events);
    }

    [Fact]
    public void An_endpoint_that_says_nothing_is_given_up_after_the_time_of_a_handshake()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var a = mesh.Add("a");
        var silent = new IPEndPoint(IPAddress.Loopback, 98);
        using var listener = mesh.Network.CreateTransport(silent).Listen(silent, static _ => { }, static _ => { });
        var answers = new List<DisconnectReason?>();
        a.Mesh.Ask(silent, B, failure => answers.Add(failure?.Reason));
        mesh.Rounds(20);
        Assert.Empty(answers);
        mesh.Clock.Advance(a.Mesh.Options.HandshakeTimeout);
        mesh.Until(() => answers.Count > 0, "an answer");
        Assert.Equal([DisconnectReason.HandshakeTimeout], answers);
        mesh.Until(() => a.Mesh.LinkCount == 0, "closed");
    }

    private static List<DisconnectReason?> Ask(TestMesh mesh, TestNode node, EndPoint endPoint)
    {
        var answers = new List<DisconnectReason?>();
        node.Mesh.Ask(endPoint, B, failure => answers.Add(failure?.Reason));
        mesh.Until(() => answers.Count > 0, "an answer");
        mesh.Rounds(10);
        return answers;
    }
}
