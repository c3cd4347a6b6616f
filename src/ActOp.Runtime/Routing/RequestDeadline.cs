using ActOp.Wire;

namespace ActOp.Runtime.Routing;

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
    private const int IdsAt = 3 + 8 + 8;

    private static readonly WireSession NoReferences = new(null);

    /// <summary>Takes the time that a frame has waited from the time that its request has left. Other frames stay as they are.</summary>
    /// <exception cref="Orleans.Serialization.SerializerException">The frame is malformed.</exception>
    internal static void Shorten(Span<byte> frame, long waitedMs)
    {
        if (waitedMs <= 0 || frame.Length < IdsAt || (FrameKind)frame[0] != FrameKind.Request
            || ((FrameFlags)frame[1] & FrameFlags.HasDeadline) == 0)
        {
            return;
        }

        var reader = new WireReader(frame, NoReferences);
        reader.ReadRaw(IdsAt);
        SkipId(ref reader);
        SkipId(ref reader);
        if (((FrameFlags)frame[1] & FrameFlags.HasOrigin) != 0)
        {
            Addresses.Read(ref reader);
            Addresses.Read(ref reader);
        }

        var at = reader.Position;
        var left = (ulong)Math.Max(0, reader.ReadVarUInt32() - waitedMs);
        // As many bytes as before, so that nothing moves.
        for (var last = reader.Position - 1; at < last; at++, left >>= 7)
            frame[at] = (byte)(left | 0x80);
        frame[at] = (byte)left;
    }

    private static void SkipId(ref WireReader reader)
    {
        reader.ReadFixed32();
        reader.ReadBytes();
        reader.ReadBytes();
    }
}
