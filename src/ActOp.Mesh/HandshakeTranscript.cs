using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;

namespace ActOp.Mesh;

/// <summary>
/// What the two ends of one connection have said in their handshake, as a running hash, and the key of their proofs. Each end computes it
/// from the bytes that it has sent and received. A proof is a keyed hash over all frames before it and its own frame, so it covers both
/// nonces, both identities, the role, the ids (by their marks), the versions, the session, the channel and the number of the link. A frame
/// that was changed, taken out of another connection, or sent back to its sender proves nothing.
/// <para>Owned by the link until its handshake is over. Threads: control thread; the accepting thread before the link is attached.</para>
/// </summary>
internal sealed class HandshakeTranscript
{
    public const int HashBytes = SHA256.HashSizeInBytes;
    public const int NonceBytes = 32;
    public const int TokenBytes = 16;

    private readonly byte[] _hash = new byte[HashBytes];

    /// <summary>The key that both ends proved to have; null without a secret.</summary>
    public byte[]? Key { get; set; }

    /// <summary>The key is one of operators; see <see cref="MeshOptions.OperatorSecrets"/>.</summary>
    public bool IsOperator { get; set; }

    /// <summary>The key is one of this tenant; see <see cref="MeshOptions.TenantSecrets"/>. Null for none.</summary>
    public string? Tenant { get; set; }

    /// <summary>The other end; null until its identity was checked.</summary>
    public NodeId? Node { get; set; }

    /// <summary>Milliseconds between two keep-alives of the other end; see <see cref="HandshakeFrame.KeepAlive"/>.</summary>
    public int? KeepAlive { get; set; }

    /// <summary>A frame was sent or received.</summary>
    public void Add(ReadOnlySpan<byte> frame)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        hash.AppendData(_hash);
        hash.AppendData(frame);
        hash.GetHashAndReset(_hash);
    }

    /// <summary>
    /// Shows knowledge of an id without telling it: who connects, and does not know the id, learns nothing, because the dialler sends it.
    /// </summary>
    /// <param name="what">Which id.</param>
    /// <param name="id">The id.</param>
    /// <param name="nonce">The dialler's nonce.</param>
    public byte[] Mark(string what, string id, ReadOnlySpan<byte> nonce)
    {
        using var hash = IncrementalHash.CreateHMAC(HashAlgorithmName.SHA256, Key ?? []);
        hash.AppendData(_hash);
        hash.AppendData(nonce);
        Span<byte> length = stackalloc byte[4];
        BinaryPrimitives.WriteInt32LittleEndian(length, what.Length);
        hash.AppendData(length);
        hash.AppendData(Encoding.UTF8.GetBytes(what + id));
        return hash.GetHashAndReset();
    }

    /// <summary>The frame to send: with a proof if there is a key.</summary>
    public byte[] Seal(HandshakeFrame frame)
    {
        var bytes = frame.Encode();
        return Key is null ? bytes : HandshakeFrame.WithProof(bytes, Proof(Key, bytes));
    }

    /// <summary>Whether a received frame proves the key, or there is neither key nor proof.</summary>
    /// <param name="frame">The frame.</param>
    /// <param name="bytes">Its bytes, as received; not added yet.</param>
    /// <param name="key">The key; null without a secret.</param>
    public bool IsProven(HandshakeFrame frame, ReadOnlySpan<byte> bytes, byte[]? key)
    {
        if (key is null || frame.Proof.Length == 0)
            return key is null && frame.Proof.Length == 0;

        return CryptographicOperations.FixedTimeEquals(Proof(key, bytes[..^HandshakeFrame.ProofFieldBytes]), frame.Proof);
    }

    /// <summary>Whether a received frame proves one of these keys, which is then that of the connection.</summary>
    public bool TryProve(HandshakeFrame frame, ReadOnlySpan<byte> bytes, byte[][] keys)
    {
        foreach (var key in keys)
        {
            if (IsProven(frame, bytes, key))
            {
                Key = key;
                return true;
            }
        }

        return false;
    }

    private byte[] Proof(byte[] key, ReadOnlySpan<byte> bytes)
    {
        using var hash = IncrementalHash.CreateHMAC(HashAlgorithmName.SHA256, key);
        hash.AppendData(_hash);
        hash.AppendData(bytes);
        return hash.GetHashAndReset();
    }
}

/// <summary>
/// The secrets of one node: the keys of each role, and the key of its tokens, which is random for each run of the process. Immutable.
/// </summary>
internal sealed class HandshakeKeys
{
    private readonly byte[][] _silo;
    private readonly byte[][] _client;
    private readonly byte[][] _operator;
    private readonly Dictionary<string, byte[][]> _tenants;
    private readonly RandomBytes _random;
    private readonly byte[] _process = new byte[HandshakeTranscript.HashBytes];

    public HandshakeKeys(MeshOptions options)
    {
        // Each role has keys of its own: who knows the key of clients proves nothing at the listener for silos, nor for another tenant.
        _silo = MakeKeys(options.SiloSecrets, "silo");
        _client = MakeKeys(options.ClientSecrets, "client");
        _operator = MakeKeys(options.OperatorSecrets, "operator");
        _tenants = options.TenantSecrets.ToDictionary(static pair => pair.Key, static pair => MakeKeys(pair.Value, "tenant " + pair.Key));
        _random = options.Random;
        _random(_process);
        Mark = BinaryPrimitives.ReadUInt64LittleEndian(HMACSHA256.HashData(_process, "ActOp mesh 2, mark"u8)) | 1;
    }

    /// <summary>What silos know this process by: random, never 0.</summary>
    public ulong Mark { get; }

    /// <summary>The keys of operators, which come as clients.</summary>
    public byte[][] OfOperators => _operator;

    /// <summary>The key of this node's own dials, for a client of the tenant if it is bound to one; null without a secret.</summary>
    public byte[]? KeyOfDials(NodeKind self, string? tenant) => self == NodeKind.Silo ? _silo.FirstOrDefault()
        : tenant is not null ? KeysOfTenant(tenant)[0]
        : _operator.Concat(_client).FirstOrDefault();

    /// <summary>The accepted keys of a role.</summary>
    public byte[][] KeysOf(NodeKind role) => role == NodeKind.Silo ? _silo : _client;

    /// <summary>
    /// The keys of a tenant. Of one that is not known, a key that nobody else has: to ask for it takes as long, and proves nothing.
    /// </summary>
    public byte[][] KeysOfTenant(string name) => _tenants.GetValueOrDefault(name) ?? [_process];

    public byte[] NewNonce()
    {
        var nonce = new byte[HandshakeTranscript.NonceBytes];
        _random(nonce);
        return nonce;
    }

    /// <summary>
    /// What shows another node that this process is the one that it has met before. Different for each node, so that no node can use what
    /// it was told at another one.
    /// </summary>
    public byte[] TokenFor(NodeId other)
    {
        byte[] text = [(byte)other.Kind, .. Encoding.UTF8.GetBytes(other.Name)];
        return HMACSHA256.HashData(_process, text)[..HandshakeTranscript.TokenBytes];
    }

    private static byte[][] MakeKeys(IReadOnlyList<byte[]> secrets, string role)
    {
        var text = Encoding.UTF8.GetBytes("ActOp mesh 2, " + role);
        return [.. secrets.Select(secret => HMACSHA256.HashData(secret, text))];
    }
}

/// <summary>Fills a buffer with bytes that nobody else can foresee. Any thread.</summary>
/// <param name="bytes">The buffer.</param>
public delegate void RandomBytes(Span<byte> bytes);
