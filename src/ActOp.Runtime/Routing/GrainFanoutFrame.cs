using System.Buffers.Binary;
using ActOp.Wire;
using Orleans.Runtime;
using Orleans.Serialization;

namespace ActOp.Runtime.Routing;

/// <summary>
/// The first part of a frame for many grains of one type: who gets the request that follows. <see cref="Write"/> and <see cref="Read"/>
/// are the only code that knows the order of the parts; the document <c>docs/frames.md</c> lists them.
/// </summary>
/// <remarks>On the stack of the thread that reads or writes the frame.</remarks>
internal readonly ref struct GrainFanoutFrame
{
    /// <summary>Bytes of the receivers of one frame, with which a sender ends the frame: as many as those of most observers.</summary>
    internal const int MaxReceiverBytes = 6 << 20;

    /// <summary>The hash of an id, and the length of its key, which has at most <see cref="GrainIdBytes.MaxBytes"/>.</summary>
    private const int MaxHeadBytes = sizeof(uint) + 2;

    private GrainFanoutFrame(bool isOneWay, ReadOnlySpan<byte> type, int count, ReadOnlySpan<byte> receivers)
    {
        IsOneWay = isOneWay;
        Type = type;
        Count = count;
        Receivers = receivers;
    }

    /// <summary>Nobody waits for answers, and the receivers have no tickets.</summary>
    internal bool IsOneWay { get; }

    /// <summary>The type of all receivers.</summary>
    internal ReadOnlySpan<byte> Type { get; }

    /// <summary>How many there are, as the sender says.</summary>
    internal int Count { get; }

    /// <summary>Each as <see cref="ReadReceiver"/> reads it.</summary>
    internal ReadOnlySpan<byte> Receivers { get; }

    /// <summary>Writes everything before the request, from the kind of the frame on.</summary>
    internal static void Write(ref WireWriter writer, bool isOneWay, ReadOnlySpan<byte> type, int count, ReadOnlySpan<byte> receivers)
    {
        writer.WriteByte((byte)FrameKind.GrainFanout);
        writer.WriteByte((byte)(isOneWay ? FrameFlags.OneWay : FrameFlags.None));
        writer.WriteBytes(type);
        writer.WriteVarUInt32((uint)count);
        writer.WriteBytes(receivers);
    }

    /// <summary>Reads what follows the kind of the frame; the reader stands before the request then.</summary>
    /// <exception cref="SerializerException">The frame is malformed.</exception>
    internal static GrainFanoutFrame Read(scoped ref WireReader reader)
    {
        var isOneWay = ((FrameFlags)reader.ReadByte() & FrameFlags.OneWay) != 0;
        var type = reader.ReadBytes();
        var count = reader.ReadVarUInt32();
        if (count is 0 or > FanoutFrame.MaxReceivers || type.Length is 0 or > GrainIdBytes.MaxBytes)
            throw new SerializerException("A frame is for " + count + " grains of a type of " + type.Length + " bytes.");
        return new GrainFanoutFrame(isOneWay, type, (int)count, reader.ReadBytes());
    }

    /// <summary>The most bytes that <see cref="WriteReceiver"/> writes.</summary>
    internal static int MaxBytesOf(GrainId receiver) => MaxHeadBytes + receiver.Key.AsSpan().Length;

    /// <summary>Writes a receiver without its ticket. Returns its bytes.</summary>
    internal static int WriteReceiver(Span<byte> to, GrainId receiver)
    {
        var key = receiver.Key.AsSpan();
        BinaryPrimitives.WriteUInt32LittleEndian(to, receiver.GetUniformHashCode());
        var at = sizeof(uint);
        var length = (uint)key.Length;
        for (; length > 0x7F; length >>= 7)
            to[at++] = (byte)(length | 0x80);
        to[at++] = (byte)length;
        key.CopyTo(to[at..]);
        return at + key.Length;
    }

    /// <summary>Reads the next receiver.</summary>
    /// <param name="receivers">Stands in <see cref="Receivers"/>.</param>
    /// <param name="ticket">The ticket of its call at the sender; 0 without one.</param>
    /// <exception cref="SerializerException">The frame is malformed.</exception>
    internal GrainIdBytes ReadReceiver(ref WireReader receivers, out ulong ticket)
    {
        var hash = receivers.ReadFixed32();
        var key = receivers.ReadBytes();
        ticket = IsOneWay ? 0 : receivers.ReadFixed64();
        if (Type.Length + key.Length > GrainIdBytes.MaxBytes)
            throw new SerializerException("A frame has the id of a grain of " + (Type.Length + key.Length) + " bytes.");
        return new GrainIdBytes(hash, Type, key);
    }
}
