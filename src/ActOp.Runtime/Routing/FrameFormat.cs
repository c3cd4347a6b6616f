using System.Net;
using ActOp.Wire;
using Orleans.Runtime;
using Orleans.Serialization;

namespace ActOp.Runtime.Routing;

/// <summary>The first byte of a frame.</summary>
internal enum FrameKind : byte
{
    /// <summary>A call of a grain.</summary>
    Request = 1,

    /// <summary>A reply to a request.</summary>
    Reply = 2,

    /// <summary>A reply that a silo relays to a client, because the replying silo has no link to the client.</summary>
    RelayedReply = 3,

    /// <summary>
    /// A request was forwarded. Tells the caller's node which silo must reply now, so that the call fails at once if that silo dies.
    /// </summary>
    Forwarded = 4,

    /// <summary>
    /// A reply of a client's observer to another client: the client that replies, as the silo that relays it knows, and the reply without
    /// its kind.
    /// </summary>
    ClientReply = 5,

    /// <summary>
    /// The caller of a request has cancelled it: how often the frame was forwarded, the ticket of the request, the node that waits for its
    /// reply, the grain, and for how many ms the cancellation is kept where the request is not known.
    /// </summary>
    Cancel = 6,

    /// <summary>
    /// A request for many observers of one node: who they are, and the request. Nodes that speak version 2 of the protocol do not know it.
    /// </summary>
    Fanout = 7,

    /// <summary>The same for many grains of one type. Nodes that speak version 3 of the protocol do not know it.</summary>
    GrainFanout = 8,
}

/// <summary>The second byte of a frame: its optional parts.</summary>
[Flags]
internal enum FrameFlags : byte
{
    None = 0,

    /// <summary>Request: one-way, no reply.</summary>
    OneWay = 1,

    // 2 and 4 have said what the receiver now reads in its own manifest: whether the method is read-only or always interleaves.

    /// <summary>A request context follows.</summary>
    HasContext = 8,

    /// <summary>Type arguments of the method follow.</summary>
    HasTypeArguments = 16,

    /// <summary>
    /// The request was forwarded: the caller's node and the forwarding silo follow, and of a client's request the client's mark.
    /// </summary>
    HasOrigin = 32,

    /// <summary>Reply: the outcome is an exception.</summary>
    IsError = 64,

    /// <summary>Request: the remaining milliseconds until its deadline follow. The bit has another meaning in replies.</summary>
    HasDeadline = IsError,

    /// <summary>Reply: the location of the grain follows, for callers that used another one.</summary>
    HasLocation = 128,

    /// <summary>Request: its trace follows. The bit has another meaning in replies.</summary>
    HasTrace = HasLocation,
}

/// <summary>Writes and reads node addresses.</summary>
internal static class Addresses
{
    internal static void Write(ref WireWriter writer, SiloAddress address)
    {
        Span<byte> bytes = stackalloc byte[16];
        address.Endpoint.Address.TryWriteBytes(bytes, out var length);
        writer.WriteBytes(bytes[..length]);
        writer.WriteVarUInt32((uint)address.Endpoint.Port);
        writer.WriteVarInt32(address.Generation);
    }

    /// <summary>Writes where a forwarded request comes from.</summary>
    /// <param name="writer">Gets the bytes.</param>
    /// <param name="origin">The node that waits for the answer.</param>
    /// <param name="via">The silo that forwards it.</param>
    /// <param name="mark"><see cref="ActOp.Calls.Call.OriginMark"/>.</param>
    internal static void WriteOrigin(ref WireWriter writer, SiloAddress origin, SiloAddress via, ulong mark)
    {
        Write(ref writer, origin);
        Write(ref writer, via);
        if (origin.IsClient)
            writer.WriteFixed64(mark);
    }

    /// <exception cref="SerializerException">There is no address.</exception>
    internal static SiloAddress ReadOrigin(ref WireReader reader, out SiloAddress via, out ulong mark)
    {
        var origin = Read(ref reader);
        via = Read(ref reader);
        mark = origin.IsClient ? reader.ReadFixed64() : 0;
        return origin;
    }

    /// <exception cref="SerializerException">It is no address.</exception>
    internal static SiloAddress Read(ref WireReader reader)
    {
        var address = reader.ReadBytes();
        var port = reader.ReadVarUInt32();
        if (address.Length is not (4 or 16) || port > IPEndPoint.MaxPort)
            throw new SerializerException("A frame has an address of " + address.Length + " bytes and the port " + port + ".");
        return SiloAddress.New(new IPAddress(address), (int)port, reader.ReadVarInt32());
    }
}

/// <summary>
/// Interns grain ids, so that recently seen ids are not allocated again. One per thread; a table of fixed size in which a newer id replaces
/// an older one with the same position.
/// </summary>
internal sealed class IdIntern
{
    /// <summary>Number of ids, of 32 bytes each.</summary>
    private const int Size = 1 << 14;

    /// <summary>The longest id that is kept: with 16,384 of them, 8 MiB for a thread at most. Most ids have some ten bytes.</summary>
    private const int MaxKeptBytes = 512;

    [ThreadStatic]
    private static IdIntern? t_instance;

    private readonly GrainId[] _ids = new GrainId[Size];

    internal static IdIntern Current => t_instance ??= new IdIntern();

    /// <exception cref="SerializerException">The frame is malformed.</exception>
    internal GrainId Read(ref WireReader reader) => Intern(GrainIdBytes.Read(ref reader));

    /// <summary>The id with these bytes.</summary>
    internal GrainId Intern(in GrainIdBytes id) => Intern(id.Hash, id.Type, id.Key);

    /// <summary>The id with these bytes.</summary>
    internal GrainId Intern(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key)
    {
        if (type.IsEmpty && key.IsEmpty)
            return default;
        ref var cached = ref _ids[hash & (Size - 1)];
        if (!cached.IsDefault && cached.Key.AsSpan().SequenceEqual(key) && cached.Type.AsSpan().SequenceEqual(type))
            return cached;
        var made = GrainId.Create(new GrainType(new IdSpan(type.ToArray())), new IdSpan(key.ToArray()));
        if (type.Length + key.Length <= MaxKeptBytes)
            cached = made;
        return made;
    }
}
