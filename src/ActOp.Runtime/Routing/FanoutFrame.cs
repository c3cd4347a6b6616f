using System.Text;
using ActOp.Wire;
using Orleans.Runtime;
using Orleans.Serialization;

namespace ActOp.Runtime.Routing;

/// <summary>
/// The first part of a frame for many observers of one node: who gets the request that follows. <see cref="Write"/> and <see cref="Read"/>
/// are the only code that knows the order of the parts; the document <c>docs/frames.md</c> lists them.
/// </summary>
/// <remarks>
/// On the stack of the thread that reads or writes the frame. The key of an observer is the address of its node, a plus sign and 32 hex
/// digits: the frame has the address once, and the digits as <see cref="DigestBytes"/> bytes.
/// </remarks>
internal readonly ref struct FanoutFrame
{
    /// <summary>
    /// Receivers of one frame. With tickets a frame has 6 MiB for them then, which fits a link that is empty, and takes some tens of
    /// milliseconds to deliver, on the thread that reads large frames.
    /// </summary>
    internal const int MaxReceivers = 1 << 18;

    /// <summary>The part of an observer's key that is its own, in a frame.</summary>
    internal const int DigestBytes = 16;

    /// <summary>The same in its key.</summary>
    internal const int DigestDigits = 2 * DigestBytes;

    private const int TicketBytes = 8;

    private FanoutFrame(bool isOneWay, ReadOnlySpan<byte> prefix, int count, ReadOnlySpan<byte> receivers)
    {
        IsOneWay = isOneWay;
        Prefix = prefix;
        Count = count;
        Receivers = receivers;
    }

    /// <summary>Nobody waits for answers, and the receivers have no tickets.</summary>
    internal bool IsOneWay { get; }

    /// <summary>What the keys of all receivers begin with: the address of their node, and a plus sign.</summary>
    internal ReadOnlySpan<byte> Prefix { get; }

    internal int Count { get; }

    private ReadOnlySpan<byte> Receivers { get; }

    /// <summary>Bytes of a receiver.</summary>
    internal static int BytesOf(bool isOneWay) => DigestBytes + (isOneWay ? 0 : TicketBytes);

    /// <summary>What the keys of the observers of a node begin with.</summary>
    internal static byte[] PrefixOf(SiloAddress node) => Encoding.UTF8.GetBytes(node.ToParsableString() + "+");

    /// <summary>Takes the key of an observer apart. False for a key that this frame has no form for.</summary>
    /// <param name="key">The key.</param>
    /// <param name="prefix">What the keys of its node begin with.</param>
    /// <param name="digest">Gets its own part.</param>
    internal static bool TrySplit(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> prefix, Span<byte> digest)
    {
        prefix = default;
        if (key.Length <= DigestDigits || key[^(DigestDigits + 1)] != (byte)'+')
            return false;
        prefix = key[..^DigestDigits];
        return Convert.FromHexString(key[^DigestDigits..], digest, out _, out _) == System.Buffers.OperationStatus.Done;
    }

    /// <summary>Writes everything before the request, from the kind of the frame on.</summary>
    /// <param name="writer">Gets the bytes.</param>
    /// <param name="isOneWay"><see cref="IsOneWay"/>.</param>
    /// <param name="prefix"><see cref="Prefix"/>.</param>
    /// <param name="receivers">The receivers, each with <see cref="BytesOf"/> bytes.</param>
    internal static void Write(ref WireWriter writer, bool isOneWay, ReadOnlySpan<byte> prefix, ReadOnlySpan<byte> receivers)
    {
        writer.WriteByte((byte)FrameKind.Fanout);
        writer.WriteByte((byte)(isOneWay ? FrameFlags.OneWay : FrameFlags.None));
        writer.WriteBytes(prefix);
        writer.WriteVarUInt32((uint)(receivers.Length / BytesOf(isOneWay)));
        writer.WriteRaw(receivers);
    }

    /// <summary>Reads what follows the kind of the frame; the reader stands before the request then.</summary>
    /// <exception cref="SerializerException">The frame is malformed.</exception>
    internal static FanoutFrame Read(scoped ref WireReader reader)
    {
        var isOneWay = ((FrameFlags)reader.ReadByte() & FrameFlags.OneWay) != 0;
        var prefix = reader.ReadBytes();
        var count = reader.ReadVarUInt32();
        if (count is 0 or > MaxReceivers || prefix.Length > GrainIdBytes.MaxBytes)
            throw new SerializerException("A frame is for " + count + " receivers with keys of " + prefix.Length + " bytes and more.");
        return new FanoutFrame(isOneWay, prefix, (int)count, reader.ReadRaw((int)count * BytesOf(isOneWay)));
    }

    /// <summary>One of the receivers.</summary>
    /// <param name="index">Which one.</param>
    /// <param name="digits">Gets the own part of its key, as it stands in the key.</param>
    /// <returns>The ticket of its call at the sender; 0 without one.</returns>
    internal ulong Receiver(int index, Span<byte> digits)
    {
        var receiver = Receivers.Slice(index * BytesOf(IsOneWay), BytesOf(IsOneWay));
        Convert.TryToHexStringLower(receiver[..DigestBytes], digits, out _);
        return IsOneWay ? 0 : System.Buffers.Binary.BinaryPrimitives.ReadUInt64LittleEndian(receiver[DigestBytes..]);
    }
}
