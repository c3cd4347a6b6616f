using System.Security.Cryptography;

namespace ActOp.Mesh;

/// <summary>
/// What a node says of itself in handshakes, and what it accepts of others: the ids, the secrets, the kind, and the name.
/// </summary>
/// <remarks>Owns nothing. Control thread; <see cref="Greeting"/> on any.</remarks>
internal sealed class HandshakeIdentity(NodeId self, MeshOptions options, MeshEvents events, HandshakeKeys keys)
{
    internal NodeId Self => self;

    /// <summary>The highest version of the protocol that this node speaks.</summary>
    internal ushort HighestVersion => options.HighestVersion;

    private int KeepAlive => (int)options.KeepAliveInterval.TotalMilliseconds;

    /// <summary>The first frame of an acceptor, which tells nothing.</summary>
    internal HandshakeFrame Greeting() => new()
    {
        Kind = HandshakeKind.Greeting,
        MaxVersion = HighestVersion,
        Nonce = keys.NewNonce(),
    };

    /// <summary>The first frame of a dialler, by the key that it knows.</summary>
    internal HandshakeFrame Hello(HandshakeTranscript transcript)
    {
        var tenant = options.Tenant;
        transcript.Key = keys.KeyOfDials(self.Kind, tenant);
        var nonce = keys.NewNonce();
        return new HandshakeFrame
        {
            Kind = HandshakeKind.Hello,
            MaxVersion = HighestVersion,
            Nonce = nonce,
            Cluster = transcript.Mark("cluster", options.ClusterId, nonce),
            Service = transcript.Mark("service", options.ServiceId, nonce),
            NodeKind = self.Kind,
            Name = self.Name,
            Tenant = tenant ?? "",
            KeepAlive = KeepAlive,
        };
    }

    /// <summary>An acceptor tells who it is.</summary>
    internal HandshakeFrame Answer() => new()
    {
        Kind = HandshakeKind.Answer,
        MaxVersion = HighestVersion,
        NodeKind = self.Kind,
        Name = self.Name,
        KeepAlive = KeepAlive,
    };

    /// <summary>A dialler asks for the place of a link in a session.</summary>
    internal HandshakeFrame Claim(Link link, Session session, NodeId acceptor) => new()
    {
        Kind = HandshakeKind.Claim,
        MaxVersion = HighestVersion,
        Session = session.Number,
        Channel = link.Channel,
        Index = (ushort)link.Index,
        Links = (ushort)session.DataLinks,
        Layout = session.Layout.Encode(),
        Supersedes = session.Peer.LastAccepted,
        Token = keys.TokenFor(acceptor),
        Mark = self.Kind == NodeKind.Client ? keys.Mark : 0,
    };

    /// <summary>An acceptor has given the link its place.</summary>
    internal HandshakeFrame Welcome(NodeId dialler) => new()
    {
        Kind = HandshakeKind.Welcome,
        MaxVersion = HighestVersion,
        Token = keys.TokenFor(dialler),
    };

    /// <summary>What an acceptor refuses; it has said nothing about itself yet, and keeps nothing about the dialler.</summary>
    internal DisconnectReason CheckHello(Link link, HandshakeFrame hello, ReadOnlySpan<byte> body)
    {
        if (hello.NodeKind != link.Accepts)
            return DisconnectReason.WrongRole;

        var transcript = link.Transcript!;
        return !IsProven(link, hello, body) ? DisconnectReason.NotAuthenticated
            : !IsMark(hello.Cluster, transcript.Mark("cluster", options.ClusterId, hello.Nonce)) ? DisconnectReason.WrongCluster
            : !IsMark(hello.Service, transcript.Mark("service", options.ServiceId, hello.Nonce)) ? DisconnectReason.WrongService
            : CheckNode(hello.Node);
    }

    internal DisconnectReason CheckAnswer(Link link, HandshakeFrame answer, ReadOnlySpan<byte> body)
        => answer.NodeKind != link.Accepts ? DisconnectReason.WrongRole
            : CheckProof(link, answer, body) is not DisconnectReason.None and var reason ? reason
            : CheckNode(answer.Node);

    internal static DisconnectReason CheckProof(Link link, HandshakeFrame frame, ReadOnlySpan<byte> body)
        => link.Transcript is { } transcript && transcript.IsProven(frame, body, transcript.Key)
            ? DisconnectReason.None
            : DisconnectReason.NotAuthenticated;

    /// <summary>Whether a dialler knows a secret that is accepted here, which is then that of the connection; or none is needed.</summary>
    private bool IsProven(Link link, HandshakeFrame hello, ReadOnlySpan<byte> body)
    {
        var transcript = link.Transcript!;
        if (hello.Tenant.Length > 0)
        {
            // Who names a tenant has its secret; no other one counts, and it has no other role.
            transcript.Tenant = hello.Tenant;
            return link.Accepts == NodeKind.Client && transcript.TryProve(hello, body, keys.KeysOfTenant(hello.Tenant));
        }

        var accepted = keys.KeysOf(link.Accepts);
        transcript.IsOperator = link.Accepts == NodeKind.Client && transcript.TryProve(hello, body, keys.OfOperators);
        return transcript.IsOperator
            || (accepted.Length == 0 ? transcript.IsProven(hello, body, null) : transcript.TryProve(hello, body, accepted));
    }

    private DisconnectReason CheckNode(NodeId node)
        => node == self ? DisconnectReason.Self : events.AcceptsName(node) ? DisconnectReason.None : DisconnectReason.WrongName;

    private static bool IsMark(byte[] mark, byte[] expected) => CryptographicOperations.FixedTimeEquals(mark, expected);
}
