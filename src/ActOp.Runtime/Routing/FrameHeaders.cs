using ActOp.Wire;
using Orleans.Runtime;
using Orleans.Serialization;

namespace ActOp.Runtime.Routing;

/// <summary>The id of a grain as it stands in a frame. The spans are parts of the frame, or of the id that is written.</summary>
internal readonly ref struct GrainIdBytes(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key)
{
    /// <summary>
    /// The longest id of a grain that a frame may have, type and key together. Others have to keep ids, in the directory for example, and
    /// nothing else limits how many.
    /// </summary>
    internal const int MaxBytes = 8 << 10;

    internal uint Hash { get; } = hash;

    internal ReadOnlySpan<byte> Type { get; } = type;

    internal ReadOnlySpan<byte> Key { get; } = key;

    /// <exception cref="SerializerException">The id is longer than any that <see cref="Write"/> writes.</exception>
    internal static GrainIdBytes Read(ref WireReader reader)
    {
        var hash = reader.ReadFixed32();
        var type = reader.ReadBytes();
        var key = reader.ReadBytes();
        if (type.Length + key.Length > MaxBytes)
            throw new SerializerException("A frame has the id of a grain of " + (type.Length + key.Length) + " bytes.");
        return new(hash, type, key);
    }

    /// <exception cref="LimitExceededException">The id is longer than <see cref="MaxBytes"/>.</exception>
    internal static void Write(ref WireWriter writer, GrainId id)
    {
        var type = id.Type.AsSpan();
        var key = id.Key.AsSpan();
        if (type.Length + key.Length > MaxBytes)
        {
            throw new LimitExceededException("The id of a grain has " + (type.Length + key.Length)
                + " bytes. Type and key together must not have more than " + MaxBytes + ".");
        }

        writer.WriteFixed32(id.IsDefault ? 0 : id.GetUniformHashCode());
        writer.WriteBytes(type);
        writer.WriteBytes(key);
    }
}

/// <summary>
/// The first part of a request: all that a node must know to refuse it, to forward it or to find its method. The context, the trace and the
/// arguments follow. <see cref="Write"/> and <see cref="Read"/> are the only code that knows the order of the parts; the document
/// <c>docs/frames.md</c> lists them, and a test reads frames by that list.
/// </summary>
/// <remarks>On the stack of the thread that reads or writes the frame.</remarks>
internal struct RequestHeader
{
    /// <summary>The largest number of forwards that fits beside the two bits.</summary>
    internal const int MaxForwards = 0x3F;

    /// <summary>The bit of <see cref="PlacedHere"/> in the byte of forwards.</summary>
    private const int PlacedHereBit = 0x80;

    /// <summary>The bit of <see cref="NamesInterface"/> in the byte of forwards.</summary>
    private const int InterfaceBit = 0x40;

    /// <summary>The optional parts. The parts of this header must agree with them.</summary>
    internal FrameFlags Flags;

    /// <summary>How often the request was forwarded.</summary>
    internal byte Forwards;

    /// <summary>The receiver must activate the grain.</summary>
    internal bool PlacedHere;

    /// <summary>The caller's interface follows, which the receiver would not assume.</summary>
    internal bool NamesInterface;

    /// <summary>The ticket of the call at the node that waits for the reply.</summary>
    internal ulong ReplyTo;

    /// <summary>The method, by its id in the manifest.</summary>
    internal ulong MethodId;

    /// <summary>The node that waits for the reply, if it is not the sender; else null.</summary>
    internal SiloAddress? Origin;

    /// <summary>The silo that has forwarded the request, if one has.</summary>
    internal SiloAddress? Via;

    /// <summary>The mark of the client that waits for the reply, if another silo has forwarded its request.</summary>
    internal ulong Mark;

    /// <summary>Milliseconds until the deadline. Valid with <see cref="FrameFlags.HasDeadline"/>.</summary>
    internal uint TimeLeft;

    /// <summary>The version of the interface. Valid with <see cref="NamesInterface"/>.</summary>
    internal ushort Version;

    /// <summary>The interface; null stands for the one that declares the method. Valid with <see cref="NamesInterface"/>.</summary>
    internal string? Interface;

    /// <summary>The type arguments of the method, if it is generic.</summary>
    internal string? TypeArguments;

    internal readonly bool IsOneWay => (Flags & FrameFlags.OneWay) != 0;

    internal readonly bool HasOrigin => (Flags & FrameFlags.HasOrigin) != 0;

    internal readonly bool HasDeadline => (Flags & FrameFlags.HasDeadline) != 0;

    /// <summary>Writes the whole header, from the kind of the frame on.</summary>
    internal readonly void Write(ref WireWriter writer, GrainId target, GrainId source)
    {
        writer.WriteByte((byte)FrameKind.Request);
        writer.WriteByte((byte)Flags);
        writer.WriteByte((byte)(Forwards | (PlacedHere ? PlacedHereBit : 0) | (NamesInterface ? InterfaceBit : 0)));
        writer.WriteFixed64(ReplyTo);
        writer.WriteFixed64(MethodId);
        GrainIdBytes.Write(ref writer, target);
        GrainIdBytes.Write(ref writer, source);
        if (HasOrigin)
            Addresses.WriteOrigin(ref writer, Origin!, Via!, Mark);
        if (HasDeadline)
            writer.WriteVarUInt32(TimeLeft);
        if (NamesInterface)
        {
            writer.WriteVarUInt32(Version);
            writer.WriteString(Interface ?? "");
        }

        if (TypeArguments is not null)
            writer.WriteString(TypeArguments);
    }

    /// <summary>Reads what follows the kind of the frame.</summary>
    /// <param name="reader">Stands behind the kind, and then before the context, the trace and the arguments.</param>
    /// <param name="target">The called grain.</param>
    /// <param name="source">The calling grain; empty if none calls.</param>
    /// <param name="timeLeftAt">Where the milliseconds until the deadline are in the frame. Valid with a deadline.</param>
    /// <exception cref="SerializerException">The frame is malformed.</exception>
    internal static RequestHeader Read(ref WireReader reader, out GrainIdBytes target, out GrainIdBytes source, out int timeLeftAt)
    {
        RequestHeader header = default;
        header.Flags = (FrameFlags)reader.ReadByte();
        var forwards = reader.ReadByte();
        header.Forwards = (byte)(forwards & MaxForwards);
        header.PlacedHere = (forwards & PlacedHereBit) != 0;
        header.NamesInterface = (forwards & InterfaceBit) != 0;
        header.ReplyTo = reader.ReadFixed64();
        header.MethodId = reader.ReadFixed64();
        target = GrainIdBytes.Read(ref reader);
        source = GrainIdBytes.Read(ref reader);
        if (header.HasOrigin)
            header.Origin = Addresses.ReadOrigin(ref reader, out header.Via, out header.Mark);
        timeLeftAt = reader.Position;
        if (header.HasDeadline)
            header.TimeLeft = reader.ReadVarUInt32();
        if (header.NamesInterface)
        {
            header.Version = ReadVersion(ref reader);
            header.Interface = reader.ReadString() is { Length: > 0 } name ? name : null;
        }

        if ((header.Flags & FrameFlags.HasTypeArguments) != 0)
            header.TypeArguments = reader.ReadString();
        return header;
    }

    private static ushort ReadVersion(ref WireReader reader) => reader.ReadVarUInt32() is <= ushort.MaxValue and var version
        ? (ushort)version
        : throw new SerializerException("A request names a version of an interface above " + ushort.MaxValue + ".");
}

/// <summary>The first part of a reply. The result, or the exception, follows.</summary>
/// <param name="Flags"><see cref="FrameFlags.IsError"/> and <see cref="FrameFlags.HasLocation"/>.</param>
/// <param name="Ticket">The ticket of the call at the node that waits.</param>
/// <param name="Silo">Where the grain is, for callers that used another location. Valid with <see cref="FrameFlags.HasLocation"/>.</param>
/// <param name="Epoch">The epoch of that location.</param>
internal readonly record struct ReplyHeader(FrameFlags Flags, ulong Ticket, SiloAddress? Silo, long Epoch)
{
    /// <summary>Bytes of a reply that is no error and tells no location: kind, flags and ticket.</summary>
    internal const int MinBytes = 10;

    internal bool IsError => (Flags & FrameFlags.IsError) != 0;

    /// <summary>Writes the whole header, from the kind of the frame on.</summary>
    internal void Write(ref WireWriter writer)
    {
        writer.WriteByte((byte)FrameKind.Reply);
        writer.WriteByte((byte)Flags);
        writer.WriteFixed64(Ticket);
        if (Silo is null)
            return;
        Addresses.Write(ref writer, Silo);
        writer.WriteVarInt64(Epoch);
    }

    /// <summary>Reads what follows the kind of the frame.</summary>
    /// <exception cref="SerializerException">The frame is malformed.</exception>
    internal static ReplyHeader Read(ref WireReader reader)
    {
        var flags = (FrameFlags)reader.ReadByte();
        var ticket = reader.ReadFixed64();
        return (flags & FrameFlags.HasLocation) == 0
            ? new(flags, ticket, null, 0)
            : new(flags, ticket, Addresses.Read(ref reader), reader.ReadVarInt64());
    }
}

/// <summary>The note that a request was forwarded, for the node that waits for its reply.</summary>
/// <param name="Hop">How often the request was forwarded.</param>
/// <param name="Ticket">The ticket of the call at that node.</param>
/// <param name="Silo">The silo that must reply now.</param>
internal readonly record struct ForwardedFrame(byte Hop, ulong Ticket, SiloAddress Silo)
{
    internal void Write(ref WireWriter writer)
    {
        writer.WriteByte((byte)FrameKind.Forwarded);
        writer.WriteByte(Hop);
        writer.WriteFixed64(Ticket);
        Addresses.Write(ref writer, Silo);
    }

    /// <summary>Reads what follows the kind of the frame.</summary>
    /// <exception cref="SerializerException">The frame is malformed.</exception>
    internal static ForwardedFrame Read(ref WireReader reader) => new(reader.ReadByte(), reader.ReadFixed64(), Addresses.Read(ref reader));
}

/// <summary>
/// The remaining time in the frame of a request that waits in this process: for a link, for room in one, or for a view that lists its
/// sender.
/// </summary>
/// <remarks>
/// Stateless. No clocks are compared: each node counts the time that a request spends with it. What is not counted is the time between the
/// append to the buffer of a link and the read on the other side.
/// </remarks>
internal static class RequestDeadline
{
    /// <summary>Kind, flags and forwards, the ticket and the method.</summary>
    private const int MinBytes = 3 + 8 + 8;

    private static readonly WireSession NoReferences = new(null);

    /// <summary>Takes the time that a frame has waited from the time that its request has left. Other frames stay as they are.</summary>
    /// <exception cref="SerializerException">The frame is malformed.</exception>
    internal static void Shorten(Span<byte> frame, long waitedMs)
    {
        if (waitedMs > 0 && frame is [(byte)FrameKind.Fanout or (byte)FrameKind.GrainFanout, ..])
        {
            var fanout = new WireReader(frame[1..], NoReferences);
            if (frame[0] == (byte)FrameKind.Fanout)
                FanoutFrame.Read(ref fanout);
            else
                GrainFanoutFrame.Read(ref fanout);
            frame = frame[(1 + fanout.Position)..];
        }

        if (waitedMs <= 0 || frame.Length < MinBytes || (FrameKind)frame[0] != FrameKind.Request
            || ((FrameFlags)frame[1] & FrameFlags.HasDeadline) == 0)
        {
            return;
        }

        var reader = new WireReader(frame, NoReferences);
        reader.ReadByte();
        var header = RequestHeader.Read(ref reader, out _, out _, out var at);
        var left = (ulong)Math.Max(0, header.TimeLeft - waitedMs);
        // As many bytes as before, so that nothing moves. All but the last have the highest bit.
        for (; (frame[at] & 0x80) != 0; at++, left >>= 7)
            frame[at] = (byte)(left | 0x80);
        frame[at] = (byte)left;
    }
}
