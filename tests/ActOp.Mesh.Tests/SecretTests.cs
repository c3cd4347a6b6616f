using System.Net;
using System.Text;

namespace ActOp.Mesh.Tests;

/// <summary>Both ends prove that they know the secret, and nobody tells it.</summary>
public class SecretTests
{
    private static readonly byte[] One = Encoding.UTF8.GetBytes("the first secret of this cluster");
    private static readonly byte[] Other = Encoding.UTF8.GetBytes("another secret that is long enough");
    private static readonly byte[] Third = Encoding.UTF8.GetBytes("the secret of the operators alone");
    private static readonly byte[] Fourth = Encoding.UTF8.GetBytes("the secret of one tenant, random");

    [Theory, InlineData(1), InlineData(4)]
    public void Nodes_that_know_the_secret_connect(int links)
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b, peer, _) = mesh.Pair(options => (options.SiloSecrets, options.LinksPerPeer) = ([One], links));
        peer.GetLink(0)!.TryAppend(TestNode.Number(1));
        mesh.Until(() => b.AllFrames.Any());
        Assert.Equal(["+b"], a.Events);
    }

    public static TheoryData<byte[]?, byte[]?> Unequal => new() { { One, Other }, { null, One }, { One, null } };

    [Theory, MemberData(nameof(Unequal))]
    public void A_wrong_or_missing_secret_is_refused_by_name_at_both_ends(byte[]? ofDialler, byte[]? ofAcceptor)
    {
        using var mesh = new TestMesh(Wire.Memory);
        var a = mesh.Add("a", options => options.SiloSecrets = ofDialler is null ? [] : [ofDialler]);
        var b = mesh.Add("b", options => options.SiloSecrets = ofAcceptor is null ? [] : [ofAcceptor]);
        a.Mesh.Connect(b.EndPoint);
        mesh.Until(() => a.Events.Contains("!NotAuthenticated") && b.Mesh.LinkCount == 0 && b.Log.Count == 2);
        Assert.All(b.Log, line => Assert.Contains("NotAuthenticated", line));
        Assert.Empty(b.Events);
        Assert.Empty(b.Mesh.Peers());
    }

    [Fact]
    public void An_acceptor_that_proves_nothing_is_refused()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var a = mesh.Add("a", options => options.SiloSecrets = [One]);
        var b = mesh.Add("b", options => options.SiloSecrets = [One]);
        var relay = new Relay(mesh, b.EndPoint)
        {
            // The answer without its proof.
            Change = static (_, frame) => frame[8] == (byte)HandshakeKind.Answer ? frame[..^HandshakeFrame.ProofFieldBytes] : frame,
        };
        a.Mesh.Connect(relay.EndPoint);
        mesh.Until(() => Step(relay) && a.Events.Contains("!NotAuthenticated"));
        Assert.Empty(a.Connected);
    }

    [Theory, InlineData(NodeKind.Silo), InlineData(NodeKind.Client)]
    public void Each_byte_of_each_frame_is_covered_by_a_proof(NodeKind kind)
    {
        for (var frameKind = HandshakeKind.Greeting; frameKind <= HandshakeKind.Welcome; frameKind++)
        {
            for (var at = 9; at < 80; at += 7)
            {
                using var mesh = new TestMesh(Wire.Memory);
                var a = mesh.Add("a", options => (options.SiloSecrets, options.ClientSecrets) = ([One], [Other]), false, kind);
                var b = mesh.Add("b", options => (options.SiloSecrets, options.ClientSecrets) = ([One], [Other]), accepts: kind);
                var changed = 0;
                var relay = new Relay(mesh, b.EndPoint);
                relay.Change = (_, frame) =>
                {
                    if (frame[8] == (byte)frameKind)
                    {
                        changed++;
                        frame[Math.Min(at, frame.Length - 1)] ^= 0x40;
                    }

                    return frame;
                };
                a.Mesh.Connect(relay.EndPoint);
                mesh.Until(() => Step(relay) && (a.Events.Count > 0 || b.Log.Count > 0), frameKind + " " + at);
                Assert.True(changed > 0);
                Assert.Empty(a.Connected);
            }
        }
    }

    [Fact]
    public void Who_knows_the_clients_secret_passes_at_the_gateway_and_never_at_the_port_of_the_silos()
    {
        using var mesh = new TestMesh(Wire.Memory);
        Action<MeshOptions> secrets = options => (options.SiloSecrets, options.ClientSecrets) = ([One], [Other]);
        var silos = mesh.Add("silos", secrets);
        var gateway = mesh.Add("gateway", secrets, accepts: NodeKind.Client);
        var client = mesh.Add("client", options => options.ClientSecrets = [Other], false, NodeKind.Client);
        client.Mesh.Connect(gateway.EndPoint);
        mesh.Until(() => gateway.Connected.Count == 1);
        var liar = mesh.Add("liar", options => (options.SiloSecrets, options.ClientSecrets) = ([Other], [Other]));
        liar.Mesh.Connect(silos.EndPoint);
        mesh.Until(() => liar.Events.Contains("!NotAuthenticated"));
        client.Mesh.Connect(silos.EndPoint);
        mesh.Until(() => client.Events.Contains("!WrongRole"));
        Assert.Empty(silos.Events);
    }

    [Theory, InlineData(true), InlineData(false)]
    public void A_client_that_proves_the_secret_of_operators_is_one_beside_others(bool haveClientsASecret)
    {
        using var mesh = new TestMesh(Wire.Memory);
        byte[][] ofClients = haveClientsASecret ? [Other] : [];
        var gateway = mesh.Add(
            "gateway", options => (options.ClientSecrets, options.OperatorSecrets) = (ofClients, [One]), accepts: NodeKind.Client);
        var client = mesh.Add("client", options => options.ClientSecrets = ofClients, false, NodeKind.Client);
        var chief = mesh.Add("chief", options => (options.OperatorSecrets, options.LinksPerPeer) = ([One], 3), false, NodeKind.Client);
        client.Mesh.Connect(gateway.EndPoint);
        chief.Mesh.Connect(gateway.EndPoint);
        mesh.Until(() => gateway.Connected.Count == 2);
        Assert.Equal("chief", Assert.Single(gateway.Mesh.Peers(), static peer => peer.IsOperator).Name);
        Assert.DoesNotContain(chief.Mesh.Peers(), static peer => peer.IsOperator);
    }

    [Fact]
    public void The_secret_of_operators_opens_only_gateways_that_know_it_and_no_other_secret_is_taken_for_it()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var silos = mesh.Add("silos", options => (options.SiloSecrets, options.OperatorSecrets) = ([Other], [One]));
        var gateway = mesh.Add(
            "gateway", options => (options.ClientSecrets, options.OperatorSecrets) = ([Other], [One]), accepts: NodeKind.Client);
        var plain = mesh.Add("plain", options => options.ClientSecrets = [Other], accepts: NodeKind.Client);
        var silo = mesh.Add("silo", options => (options.SiloSecrets, options.OperatorSecrets) = ([One], [One]));
        silo.Mesh.Connect(silos.EndPoint);
        mesh.Until(() => silo.Events.Contains("!NotAuthenticated"));
        var client = mesh.Add("client", options => options.ClientSecrets = [One], false, NodeKind.Client);
        client.Mesh.Connect(gateway.EndPoint);
        mesh.Until(() => client.Events.Contains("!NotAuthenticated"));
        var chief = mesh.Add("chief", options => options.OperatorSecrets = [One], false, NodeKind.Client);
        chief.Mesh.Connect(plain.EndPoint);
        mesh.Until(() => chief.Events.Contains("!NotAuthenticated"));
        Assert.Equal((0, 0, 0), (silos.Connected.Count, gateway.Connected.Count, plain.Connected.Count));
    }

    [Fact]
    public void A_client_that_proves_the_secret_of_a_tenant_is_bound_to_it()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var gateway = mesh.Add("gateway", options => (options.ClientSecrets, options.OperatorSecrets, options.TenantSecrets) =
            ([Other], [Third], Tenants(("acme", One), ("globex", Fourth))), accepts: NodeKind.Client);
        var plain = mesh.Add("plain", options => options.ClientSecrets = [Other], false, NodeKind.Client);
        plain.Mesh.Connect(gateway.EndPoint);
        foreach (var (name, secret) in new[] { ("acme", One), ("globex", Fourth) })
        {
            var client = mesh.Add("of " + name, options =>
                (options.Tenant, options.TenantSecrets, options.LinksPerPeer) = (name, Tenants((name, secret)), 3), false, NodeKind.Client);
            client.Mesh.Connect(gateway.EndPoint);
        }

        mesh.Until(() => gateway.Connected.Count == 3);
        var bound = gateway.Mesh.Peers().OrderBy(static peer => peer.Name, StringComparer.Ordinal)
            .Select(static peer => (peer.Name, peer.Tenant, peer.IsOperator));
        Assert.Equal([("of acme", "acme", false), ("of globex", "globex", false), ("plain", null, false)], bound);
    }

    [Theory]
    [InlineData("globex", 1)]
    [InlineData("acme", 2)]
    [InlineData("acme", 3)]
    [InlineData("unknown", 1)]
    public void Only_its_own_secret_proves_a_tenant(string tenant, int secret)
    {
        using var mesh = new TestMesh(Wire.Memory);
        Action<MeshOptions> knows = options => (options.SiloSecrets, options.ClientSecrets, options.OperatorSecrets, options.TenantSecrets) =
            ([Other], [Other], [Third], Tenants(("acme", One), ("globex", Fourth)));
        var gateway = mesh.Add("gateway", knows, accepts: NodeKind.Client);
        var silos = mesh.Add("silos", knows);
        var own = secret switch { 1 => One, 2 => Other, _ => Third };
        var client = mesh.Add("client", options => (options.Tenant, options.TenantSecrets) = (tenant, Tenants((tenant, own))), false,
            NodeKind.Client);
        client.Mesh.Connect(gateway.EndPoint);
        mesh.Until(() => client.Events.Contains("!NotAuthenticated"));
        client.Mesh.Connect(silos.EndPoint);
        mesh.Until(() => client.Events.Contains("!WrongRole"));
        // Without the name of the tenant its secret is none.
        var nameless = mesh.Add("nameless", options => options.ClientSecrets = [One], false, NodeKind.Client);
        nameless.Mesh.Connect(gateway.EndPoint);
        mesh.Until(() => nameless.Events.Contains("!NotAuthenticated"));
        Assert.Equal((0, 0), (gateway.Connected.Count, silos.Connected.Count));
    }

    [Fact]
    public void The_links_of_a_session_are_of_one_tenant()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var gateway = mesh.Add("gateway", options => (options.ClientSecrets, options.TenantSecrets) = ([Other], Tenants(("acme", One))),
            accepts: NodeKind.Client);
        // Each link says something else than the one before.
        var client = mesh.Add("client", options =>
        {
            (options.ClientSecrets, options.TenantSecrets, options.LinksPerPeer) = ([Other], Tenants(("acme", One)), 2);
            var random = options.Random;
            options.Random = bytes =>
            {
                random(bytes);
                options.Tenant = options.Tenant is null ? "acme" : null;
            };
        }, false, NodeKind.Client);
        client.Mesh.Connect(gateway.EndPoint);
        mesh.Until(() => gateway.Log.Any(static line => line.Contains("refused: Duplicate", StringComparison.Ordinal)));
        Assert.Empty(gateway.Connected);
    }

    private static Dictionary<string, IReadOnlyList<byte[]>> Tenants(params (string Name, byte[] Secret)[] tenants) =>
        tenants.ToDictionary(static one => one.Name, static one => (IReadOnlyList<byte[]>)[one.Secret]);

    [Fact]
    public void A_secret_is_replaced_while_old_and_new_nodes_connect()
    {
        using var mesh = new TestMesh(Wire.Memory);
        byte[][][] steps = [[One], [One, Other], [Other, One], [Other]];
        for (var i = 0; i + 1 < steps.Length; i++)
        {
            var (older, newer) = (steps[i], steps[i + 1]);
            var a = mesh.Add("a" + i, options => options.SiloSecrets = older);
            var b = mesh.Add("b" + i, options => options.SiloSecrets = newer);
            var c = mesh.Add("c" + i, options => options.SiloSecrets = older);
            a.Mesh.Connect(b.EndPoint);
            b.Mesh.Connect(c.EndPoint);
            mesh.Until(() => a.Connected.Count == 1 && b.Connected.Count == 2 && c.Connected.Count == 1, "step " + i);
        }
    }

    [Fact]
    public void What_was_recorded_proves_nothing_on_another_connection()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var a = mesh.Add("a", options => options.SiloSecrets = [One]);
        var b = mesh.Add("b", options => options.SiloSecrets = [One]);
        var relay = new Relay(mesh, b.EndPoint);
        var peer = a.Mesh.Connect(relay.EndPoint);
        mesh.Until(() => Step(relay) && peer.State == PeerState.Connected);
        var lines = b.Log.Count;
        using var thief = RawEnd.Dial(mesh, b.EndPoint);
        foreach (var (fromDialler, frame) in relay.Frames.ToArray())
        {
            if (fromDialler)
            {
                thief.SendFrame(frame);
                mesh.Rounds(3);
            }
        }

        mesh.Until(() => b.Log.Count > lines);
        Assert.Contains("NotAuthenticated", b.Log[lines]);
        Assert.Equal(["+a"], b.Events);
    }

    [Theory, InlineData(true), InlineData(false)]
    public void Neither_the_secret_nor_the_ids_are_on_the_wire_and_a_stranger_is_told_no_name(bool hasSecret)
    {
        using var mesh = new TestMesh(Wire.Memory);
        void Configure(MeshOptions options)
        {
            (options.ClusterId, options.ServiceId) = ("id of the cluster", "id of the service");
            options.SiloSecrets = hasSecret ? [One] : [];
        }

        var (a, b) = (mesh.Add("name of a", Configure), mesh.Add("name of b", Configure));
        var relay = new Relay(mesh, b.EndPoint);
        var peer = a.Mesh.Connect(relay.EndPoint);
        mesh.Until(() => Step(relay) && peer.State == PeerState.Connected);
        foreach (var (_, frame) in relay.Frames)
        {
            var text = Encoding.Latin1.GetString(frame);
            Assert.DoesNotContain("id of", text);
            Assert.DoesNotContain("secret", text);
        }

        using var stranger = RawEnd.Dial(mesh, b.EndPoint);
        stranger.SendFrame(new HandshakeFrame
        {
            Kind = HandshakeKind.Hello,
            Nonce = new byte[32],
            Cluster = new byte[32],
            Service = new byte[32],
            NodeKind = NodeKind.Silo,
            Name = "stranger",
        }.Encode());
        var told = new List<byte[]>();
        mesh.Until(() =>
        {
            while (stranger.Next() is { } frame)
            {
                told.Add(frame);
            }

            return stranger.IsOver;
        });
        Assert.Equal([HandshakeKind.Greeting, HandshakeKind.Refusal], told.Select(frame => (HandshakeKind)frame[8]));
        Assert.All(told, frame => Assert.DoesNotContain("name of", Encoding.Latin1.GetString(frame)));
    }

    [Theory, InlineData("10.0.0.7", false, true), InlineData("0.0.0.0", false, true), InlineData("10.0.0.7", true, false)]
    [InlineData("127.0.0.1", false, false), InlineData("::1", false, false)]
    public void A_node_that_lets_in_whoever_comes_from_elsewhere_says_so_loudly(string address, bool hasSecret, bool isWarned)
    {
        using var mesh = new TestMesh(Wire.Memory);
        var a = mesh.Add("a", options => options.ClientSecrets = hasSecret ? [One] : [], listen: false);
        a.Mesh.Listen(new IPEndPoint(IPAddress.Parse(address), 30_000), NodeKind.Client);
        Assert.Equal(isWarned, a.Log.Any(line => line.StartsWith("1011") && line.Contains(address) && line.Contains("UseClusterSecret")));
    }

    [Fact]
    public void A_short_secret_fails_by_its_name()
    {
        var error = Assert.Throws<ArgumentException>(() => new MeshOptions { SiloSecrets = [new byte[15]] }.Validate());
        Assert.Contains("MeshOptions.SiloSecrets", error.Message);
    }

    private static bool Step(Relay relay)
    {
        relay.Pump();
        return true;
    }
}
