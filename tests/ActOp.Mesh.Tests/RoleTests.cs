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
