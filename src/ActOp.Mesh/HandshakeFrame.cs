using System.Buffers.Binary;
using System.Text;

namespace ActOp.Mesh;

/// <summary>
/// One frame of the handshake: magic (8 bytes), kind (1), lowest and highest protocol version (2 each), then fields as tag (1), length (2),
/// bytes. All numbers are little-endian. Unknown tags are skipped, so that later versions may add fields. The proof, if there is one, is
/// the last field, so that it can cover all others (<see cref="HandshakeTranscript"/>).
/// <para>The acceptor sends the first frame, a nonce. Its identity follows only after the dialler has shown that it knows the ids, and the
/// secret if there is one. Then the dialler knows the node before it claims a session, and both ends can decide about sessions that cross
/// (see <see cref="Peer"/>) by identity.</para>
/// </summary>
internal sealed class HandshakeFrame
{
    /// <summary>The versions that this build speaks. Versions 3 and 4 have frames that go to many observers and grains.</summary>
    public const ushort LowestVersion = 2;

    /// <inheritdoc cref="LowestVersion"/>
    public const ushort HighestVersion = 4;

    /// <summary>The field of the proof, with its head.</summary>
    public const int ProofFieldBytes = 3 + HandshakeTranscript.HashBytes;

    private const int HeaderBytes = 13;

    private enum Tag : byte
    {
        Cluster = 1,
        Service = 2,
        Kind = 3,
        Name = 4,
        Session = 5,
        Channel = 6,
        Index = 7,
        Links = 8,
        Supersedes = 9,
        Reason = 10,
        KeepAlive = 11,
        Nonce = 12,
        Token = 13,
        Proof = 14,
        Mark = 15,
        Layout = 16,
        Tenant = 17,
    }

    private static ReadOnlySpan<byte> Magic => "ActOpM\r\n"u8;

    public HandshakeKind Kind { get; init; }

    public ushort MinVersion { get; set; } = LowestVersion;

    public ushort MaxVersion { get; set; } = HighestVersion;

    /// <summary>What only a node of the same cluster id can have made; see <see cref="HandshakeTranscript.Mark"/>.</summary>
    public byte[] Cluster { get; set; } = [];

    /// <summary>The same for the service id.</summary>
    public byte[] Service { get; set; } = [];

    public NodeKind NodeKind { get; set; }

    public string Name { get; set; } = "";

    /// <summary>The tenant that the dialler is bound to, whose secret it proves; empty for none.</summary>
    public string Tenant { get; set; } = "";

    /// <summary>Number of the session, rising with each that the dialler starts.</summary>
    public ulong Session { get; set; }

    public Channel Channel { get; set; } = Channel.Control;

    public ushort Index { get; set; }

    /// <summary>Data links of the session.</summary>
    public ushort Links { get; set; } = 1;

    /// <summary>What the data links carry (<see cref="LinkLayout"/>); empty if none has a name.</summary>
    public byte[] Layout { get; set; } = [];

    /// <summary>The newest session dialled by the receiver of this frame that the sender has known connected.</summary>
    public ulong Supersedes { get; set; }

    public DisconnectReason Reason { get; set; }

    /// <summary>Milliseconds between two keep-alives of the sender, 0 for none; null if it does not know them.</summary>
    public int? KeepAlive { get; set; }

    /// <summary>Random, fresh for each connection.</summary>
    public byte[] Nonce { get; set; } = [];

    /// <summary>Shows that the sender is the process that has used its name before; see <see cref="NameOwners"/>.</summary>
    public byte[] Token { get; set; } = [];

    /// <summary>Of a client: the same at all silos, which compare it among themselves; see <see cref="Peer.Mark"/>. 0 for none.</summary>
    public ulong Mark { get; set; }

    /// <summary>Covers this frame and all before it; empty without a secret.</summary>
    public byte[] Proof { get; private set; } = [];

    public NodeId Node => new(Name, NodeKind);

    /// <summary>The version to speak, or 0 if there is none in common.</summary>
    public int CommonVersion
        => Math.Min(MaxVersion, HighestVersion) is var version && version >= Math.Max(MinVersion, LowestVersion) ? version : 0;

    /// <summary>The frame without a proof.</summary>
    public byte[] Encode()
    {
        var buffer = new byte[WireLimits.HandshakeBytes];
        Magic.CopyTo(buffer);
        buffer[8] = (byte)Kind;
        BinaryPrimitives.WriteUInt16LittleEndian(buffer.AsSpan(9), MinVersion);
        BinaryPrimitives.WriteUInt16LittleEndian(buffer.AsSpan(11), MaxVersion);
        var at = HeaderBytes;
        switch (Kind)
        {
            case HandshakeKind.Greeting:
                WriteField(buffer, ref at, Tag.Nonce, Nonce);
                break;
            case HandshakeKind.Hello:
                WriteField(buffer, ref at, Tag.Nonce, Nonce);
                PutNode(buffer, ref at);
                WriteField(buffer, ref at, Tag.Cluster, Cluster);
                WriteField(buffer, ref at, Tag.Service, Service);
                if (Tenant.Length > 0)
                    WriteField(buffer, ref at, Tag.Tenant, Encoding.UTF8.GetBytes(Tenant));

                break;
            case HandshakeKind.Answer:
                PutNode(buffer, ref at);
                break;
            case HandshakeKind.Claim:
                WriteField(buffer, ref at, Tag.Session, Session, 8);
                WriteField(buffer, ref at, Tag.Channel, (ulong)Channel, 1);
                WriteField(buffer, ref at, Tag.Index, Index, 2);
                WriteField(buffer, ref at, Tag.Links, Links, 2);
                WriteField(buffer, ref at, Tag.Supersedes, Supersedes, 8);
                WriteField(buffer, ref at, Tag.Token, Token);
                if (Mark != 0)
                    WriteField(buffer, ref at, Tag.Mark, Mark, 8);
                if (Layout.Length > 0)
                    WriteField(buffer, ref at, Tag.Layout, Layout);

                break;
            case HandshakeKind.Welcome:
                WriteField(buffer, ref at, Tag.Token, Token);
                break;
            case HandshakeKind.Refusal:
                WriteField(buffer, ref at, Tag.Reason, (ulong)Reason, 1);
                break;
        }

        return buffer[..at];
    }

    /// <summary>An encoded frame with its proof.</summary>
    public static byte[] WithProof(byte[] frame, byte[] proof)
    {
        var buffer = new byte[frame.Length + ProofFieldBytes];
        frame.CopyTo(buffer, 0);
        var at = frame.Length;
        WriteField(buffer, ref at, Tag.Proof, proof);
        return buffer;
    }

    /// <summary>Null if the bytes are not a well-formed handshake frame.</summary>
    public static HandshakeFrame? Decode(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length is < HeaderBytes or > WireLimits.HandshakeBytes || !bytes.StartsWith(Magic)
            || bytes[8] is < (byte)HandshakeKind.Greeting or > (byte)HandshakeKind.Refusal)
        {
            return null;
        }

        var frame = new HandshakeFrame
        {
            Kind = (HandshakeKind)bytes[8],
            MinVersion = BinaryPrimitives.ReadUInt16LittleEndian(bytes[9..]),
            MaxVersion = BinaryPrimitives.ReadUInt16LittleEndian(bytes[11..]),
        };
        for (bytes = bytes[HeaderBytes..]; !bytes.IsEmpty;)
        {
            // Nothing follows a proof: it would not be covered.
            if (frame.Proof.Length > 0 || bytes.Length < 3 || bytes.Length - 3 < BinaryPrimitives.ReadUInt16LittleEndian(bytes[1..]))
                return null;

            var length = BinaryPrimitives.ReadUInt16LittleEndian(bytes[1..]);
            frame.SetField((Tag)bytes[0], bytes.Slice(3, length));
            bytes = bytes[(3 + length)..];
        }

        // Of a version that is not known here only the version itself is looked at.
        return frame.CommonVersion == 0 || frame.IsSound ? frame : null;
    }

    private bool IsSound => Kind switch
    {
        HandshakeKind.Greeting => Nonce.Length == HandshakeTranscript.NonceBytes,
        HandshakeKind.Hello => Nonce.Length == HandshakeTranscript.NonceBytes && IsNode
            && Cluster.Length == HandshakeTranscript.HashBytes && Service.Length == HandshakeTranscript.HashBytes
            && Encoding.UTF8.GetByteCount(Tenant) <= WireLimits.TenantBytes,
        HandshakeKind.Answer => IsNode,
        HandshakeKind.Claim => Token.Length == HandshakeTranscript.TokenBytes && Links is >= 1 and <= WireLimits.LinksPerPeer
            && (Channel == Channel.Control ? Index == 0 : Channel == Channel.Data && Index < Links)
            && LinkLayout.Decode(Layout, Links) is not null,
        HandshakeKind.Welcome => Token.Length == HandshakeTranscript.TokenBytes,
        _ => true,
    } && Proof.Length is 0 or HandshakeTranscript.HashBytes;

    private bool IsNode => NodeKind is NodeKind.Silo or NodeKind.Client && WireLimits.IsName(Name, NodeId.MaxNameBytes);

    private void SetField(Tag tag, ReadOnlySpan<byte> value)
    {
        switch (tag)
        {
            case Tag.Cluster: Cluster = value.ToArray(); break;
            case Tag.Service: Service = value.ToArray(); break;
            case Tag.Kind: NodeKind = (NodeKind)Number(value); break;
            case Tag.Name: Name = Encoding.UTF8.GetString(value); break;
            case Tag.Session: Session = Number(value); break;
            case Tag.Channel: Channel = (Channel)Number(value); break;
            case Tag.Index: Index = (ushort)Number(value); break;
            case Tag.Links: Links = (ushort)Number(value); break;
            case Tag.Supersedes: Supersedes = Number(value); break;
            case Tag.KeepAlive: KeepAlive = (int)Math.Min(Number(value), int.MaxValue); break;
            case Tag.Reason: Reason = (DisconnectReason)Number(value); break;
            case Tag.Nonce: Nonce = value.ToArray(); break;
            case Tag.Token: Token = value.ToArray(); break;
            case Tag.Mark: Mark = Number(value); break;
            case Tag.Layout: Layout = value.ToArray(); break;
            case Tag.Tenant: Tenant = Encoding.UTF8.GetString(value); break;
            case Tag.Proof: Proof = value.ToArray(); break;
        }
    }

    private void PutNode(byte[] buffer, ref int at)
    {
        WriteField(buffer, ref at, Tag.Kind, (ulong)NodeKind, 1);
        WriteField(buffer, ref at, Tag.Name, Encoding.UTF8.GetBytes(Name));
        if (KeepAlive is { } milliseconds)
            WriteField(buffer, ref at, Tag.KeepAlive, (ulong)milliseconds, 4);
    }

    private static ulong Number(ReadOnlySpan<byte> value)
    {
        ulong number = 0;
        for (var i = Math.Min(value.Length, 8) - 1; i >= 0; i--)
            number = (number << 8) | value[i];

        return number;
    }

    private static void WriteField(byte[] buffer, ref int at, Tag tag, ReadOnlySpan<byte> value)
    {
        PutHead(buffer, ref at, tag, value.Length);
        value.CopyTo(buffer.AsSpan(at));
        at += value.Length;
    }

    private static void WriteField(byte[] buffer, ref int at, Tag tag, ulong number, int length)
    {
        PutHead(buffer, ref at, tag, length);
        for (var i = 0; i < length; i++, number >>= 8)
            buffer[at++] = (byte)number;
    }

    private static void PutHead(byte[] buffer, ref int at, Tag tag, int length)
    {
        buffer[at] = (byte)tag;
        BinaryPrimitives.WriteUInt16LittleEndian(buffer.AsSpan(at + 1), (ushort)length);
        at += 3;
    }
}

/// <summary>The frames of a handshake in their order: acceptor, dialler, acceptor, dialler, acceptor.</summary>
internal enum HandshakeKind : byte
{
    /// <summary>The acceptor sends a nonce and nothing about itself.</summary>
    Greeting = 1,

    /// <summary>The dialler sends its identity and shows that it knows the ids and the secret.</summary>
    Hello = 2,

    /// <summary>The acceptor sends its identity and shows that it knows the secret.</summary>
    Answer = 3,

    /// <summary>The dialler, which now knows whom it has reached, sends the session and the number of the link in it.</summary>
    Claim = 4,

    /// <summary>The acceptor accepts the link.</summary>
    Welcome = 5,

    /// <summary>Either end sends the reason of a refusal and closes.</summary>
    Refusal = 6,
}

/// <summary>The fixed sizes of the wire format.</summary>
internal static class WireLimits
{
    /// <summary>Each frame is preceded by its body's length, 4 bytes, little-endian.</summary>
    public const int PrefixBytes = 4;

    /// <summary>
    /// A keep-alive: this value in place of a length, without a frame. Sent only to nodes that announce keep-alives in their handshake.
    /// </summary>
    public const uint KeepAliveMark = 0xFFFF_FFFE;

    /// <summary>
    /// The longest handshake body, and so what a connection can make this node store before it is known. A name (1024), a tenant (800) and
    /// the fixed fields take less than 2.1 KiB, the rest is for later versions; ASCII text such as an HTTP request read as a length is at
    /// least 0x20202020, far above, so that a foreign client is detected by its first four bytes.
    /// </summary>
    public const int HandshakeBytes = 4096;

    public const int LinksPerPeer = 64;

    public const int TenantBytes = 800;

    public const int Pollers = 64;

    public static bool IsName(string? text, int maxBytes)
        => !string.IsNullOrEmpty(text) && Encoding.UTF8.GetByteCount(text) <= maxBytes;
}
