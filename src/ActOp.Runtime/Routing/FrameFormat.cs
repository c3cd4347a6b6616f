using System.Net;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>The first byte of a frame.</summary>
internal enum FrameKind : byte
{
    /// <summary>A call of a grain.</summary>
    Request = 1,

    /// <summary>The answer to one.</summary>
    Reply = 2,

    /// <summary>An answer on its way through a silo to a client that the answering silo has no link to.</summary>
    RelayedReply = 3,

    /// <summary>
    /// A request was sent on: whoever waits for the answer learns which silo owes it now, and need not wait for a timeout when that one
    /// dies.
    /// </summary>
    Forwarded = 4,
}

/// <summary>The second byte of a frame: what it has beside its fixed part.</summary>
[Flags]
internal enum FrameFlags : byte
{
    None = 0,

    /// <summary>Request: nobody waits for an answer.</summary>
    OneWay = 1,

    /// <summary>Request: may run beside other read-only requests.</summary>
    ReadOnly = 2,

    /// <summary>Request: may run beside any request.</summary>
    AlwaysInterleave = 4,

    /// <summary>A request context follows.</summary>
    HasContext = 8,

    /// <summary>Type arguments of the method follow.</summary>
    HasTypeArguments = 16,

    /// <summary>The request was sent on: the node that waits for the answer, and the silo that sent it on, follow.</summary>
    HasOrigin = 32,

    /// <summary>Reply: the outcome is an exception.</summary>
    IsError = 64,

    /// <summary>
    /// Request: the milliseconds follow for which somebody waits for the answer. The bit means something else in replies.
    /// </summary>
    HasDeadline = IsError,

    /// <summary>Reply: where the grain is follows; whoever asked elsewhere learns it.</summary>
    HasLocation = 128,

    /// <summary>Request: the trace that it belongs to follows. The bit means something else in replies.</summary>
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

    internal static SiloAddress Read(ref WireReader reader)
    {
        var address = new IPAddress(reader.ReadBytes());
        var port = (int)reader.ReadVarUInt32();
        return SiloAddress.New(address, port, reader.ReadVarInt32());
    }
}

/// <summary>
/// Turns the bytes of grain ids into ids without making a new object for one that was seen lately. One per thread; a fixed
/// table in which a newer id takes the place of an older one with the same hash.
/// </summary>
internal sealed class IdIntern
{
    /// <summary>Ids of the grains a receive thread works with in a while; 32 bytes each.</summary>
    private const int Size = 1 << 14;

    [ThreadStatic]
    private static IdIntern? t_instance;

    private readonly GrainId[] _ids = new GrainId[Size];

    internal static IdIntern Current => t_instance ??= new IdIntern();

    /// <summary>Writes an id in the form that <see cref="Read"/> reads: its hash, its type and its key.</summary>
    internal static void Write(ref WireWriter writer, GrainId id)
    {
        writer.WriteFixed32(id.IsDefault ? 0 : id.GetUniformHashCode());
        writer.WriteBytes(id.Type.AsSpan());
        writer.WriteBytes(id.Key.AsSpan());
    }

    internal GrainId Read(ref WireReader reader)
    {
        var hash = reader.ReadFixed32();
        var type = reader.ReadBytes();
        var key = reader.ReadBytes();
        return Find(hash, type, key);
    }

    /// <summary>The id with these bytes.</summary>
    internal GrainId Find(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key)
    {
        if (type.IsEmpty && key.IsEmpty)
            return default;
        ref var cached = ref _ids[hash & (Size - 1)];
        if (!cached.IsDefault && cached.Key.AsSpan().SequenceEqual(key) && cached.Type.AsSpan().SequenceEqual(type))
            return cached;
        return cached = GrainId.Create(new GrainType(new IdSpan(type.ToArray())), new IdSpan(key.ToArray()));
    }
}
