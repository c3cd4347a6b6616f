namespace ActOp.Mesh.Tests;

/// <summary>Who may come in by which listener.</summary>
public class RoleTests
{
    [Theory, InlineData(NodeKind.Silo, NodeKind.Client), InlineData(NodeKind.Client, NodeKind.Silo)]
    public void A_listener_accepts_nodes_of_its_kind_only(NodeKind accepts, NodeKind other)
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b", accepts: accepts);
        var good = mesh.Add("good", listen: false, kind: accepts);
        var bad = mesh.Add("bad", listen: false, kind: other);
        bad.Mesh.Connect(b.EndPoint);
        mesh.Until(() => bad.Events.Contains("!WrongRole") && b.Mesh.LinkCount == 0 && b.Log.Count == 2, "refused");
        Assert.All(b.Log, line => Assert.Contains("WrongRole", line));
        var peer = good.Mesh.Connect(b.EndPoint);
        mesh.Until(() => peer.State == PeerState.Connected && b.Connected.Count == 1);
        Assert.Equal(accepts, b.Connected[0].Id!.Kind);
        Assert.Equal(["+good"], b.Events);
    }

    [Fact]
    public void A_name_that_the_runtime_does_not_know_is_refused_in_the_handshake()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b");
        b.Names = id => id.Name != "no address";
        var a = mesh.Add("no address");
        a.Mesh.Connect(b.EndPoint);
        mesh.Until(() => a.Events.Contains("!WrongName") && b.Mesh.LinkCount == 0);
        Assert.Empty(b.Events);
        Assert.All(b.Log, line => Assert.StartsWith("1003", line));
        Assert.Empty(b.Mesh.Peers());
    }

    [Fact]
    public void A_check_of_names_that_throws_costs_its_own_link()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b) = (mesh.Add("a"), mesh.Add("b"));
        b.Names = _ => throw new InvalidOperationException("names");
        a.Mesh.Connect(b.EndPoint);
        mesh.Until(() => a.Events.Count > 0 && b.Mesh.LinkCount == 0);
        b.Names = null;
        mesh.Clock.Advance(TimeSpan.FromSeconds(1));
        mesh.Until(() => b.Connected.Count == 1);
    }

    [Fact]
    public void A_client_does_not_listen()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var client = mesh.Add("client", listen: false, kind: NodeKind.Client);
        Assert.Throws<InvalidOperationException>(() => client.Mesh.Listen(client.EndPoint, NodeKind.Silo));
    }
}

/// <summary>A name belongs to the process that used it first.</summary>
public class NameTests
{
    [Theory, InlineData(NodeKind.Client), InlineData(NodeKind.Silo)]
    public void Nobody_replaces_the_session_of_another_node_by_using_its_name(NodeKind kind)
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b", accepts: kind);
        var a = mesh.Add("a", listen: false, kind: kind);
        var peer = a.Mesh.Connect(b.EndPoint);
        mesh.Until(() => peer.State == PeerState.Connected && b.Connected.Count == 1);
        // Its sessions have greater numbers: it was started later.
        mesh.Clock.Advance(TimeSpan.FromSeconds(1));
        var thief = mesh.Add("a", listen: false, kind: kind);
        thief.Mesh.Connect(b.EndPoint);
        mesh.Until(() => thief.Events.Contains("!NameTaken"));
        Assert.Equal(["+a"], b.Events);
        Assert.Contains(b.Log, line => line.StartsWith("1003") && line.Contains("NameTaken"));
        peer.GetLink(0)!.TryAppend(TestNode.Number(1));
        mesh.Until(() => b.AllFrames.Any());
    }

    [Fact]
    public void A_name_stays_reserved_for_a_node_that_has_lost_its_connection()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b");
        var a = mesh.Add("a");
        var peer = a.Mesh.Connect(b.EndPoint);
        mesh.Until(() => peer.State == PeerState.Connected && b.Connected.Count == 1);
        mesh.Network.Break(a.EndPoint, b.EndPoint);
        mesh.Until(() => b.Connected.Count == 0);
        var thief = mesh.Add("a");
        thief.Mesh.Connect(b.EndPoint);
        mesh.Until(() => thief.Events.Contains("!NameTaken"));
        mesh.Clock.Advance(TimeSpan.FromMilliseconds(50));
        mesh.Until(() => b.Connected.Count == 1 && peer.State == PeerState.Connected);
        Assert.Empty(thief.Connected);
    }

    [Fact]
    public void A_name_is_free_again_some_time_after_its_last_session()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b");
        var a = mesh.Add("a");
        var peer = a.Mesh.Connect(b.EndPoint);
        mesh.Until(() => peer.State == PeerState.Connected);
        a.Mesh.Dispose();
        mesh.Until(() => b.Mesh.LinkCount == 0);
        mesh.Rounds(3);
        mesh.Clock.Advance(TimeSpan.FromSeconds(30));
        var other = mesh.Add("a");
        peer = other.Mesh.Connect(b.EndPoint);
        mesh.Until(() => peer.State == PeerState.Connected);
    }

    /// <summary>The node that lost its connection without this end's notice comes back.</summary>
    [Fact]
    public void The_owner_of_a_name_replaces_its_own_session()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b");
        var a = mesh.Add("a");
        var peer = a.Mesh.Connect(b.EndPoint);
        mesh.Until(() => peer.State == PeerState.Connected && b.Connected.Count == 1);
        peer.Control!.Abort(DisconnectReason.Reset);
        b.Mesh.ControlPoller.Wake();
        mesh.Until(() => b.Events.Count(line => line.StartsWith('-')) == 1);
        mesh.Clock.Advance(TimeSpan.FromMilliseconds(50));
        mesh.Until(() => b.Connected.Count == 1 && peer.State == PeerState.Connected);
        Assert.Equal("+a", b.Events[^1]);
    }

    [Fact]
    public void A_new_node_is_refused_when_too_many_are_known()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b", options => options.MaxPeers = 2);
        var nodes = Enumerable.Range(0, 3).Select(i => mesh.Add("a" + i)).ToArray();
        foreach (var node in nodes)
        {
            node.Mesh.Connect(b.EndPoint);
            mesh.Until(() => node.Events.Count > 0);
        }

        Assert.Equal(["+b"], nodes[1].Events);
        Assert.Equal(["!TooManyPeers"], nodes[2].Events);
        Assert.Equal(2, b.Mesh.Peers().Count);
        nodes[0].Mesh.Dispose();
        mesh.Until(() => b.Connected.Count == 1);
        mesh.Clock.Advance(TimeSpan.FromSeconds(1));
        mesh.Until(() => nodes[2].Connected.Count == 1);
    }
}
