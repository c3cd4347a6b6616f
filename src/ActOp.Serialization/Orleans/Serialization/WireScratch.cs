using ActOp.Calls;
using ActOp.Wire;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization;

/// <summary>A buffer and a session that a thread reuses; a nested use gets its own.</summary>
internal sealed class WireScratch
{
    [ThreadStatic]
    private static WireScratch? t_scratch;

    private WireScratch(CallRuntime? runtime) => Session = new WireSession(runtime);

    internal WireBuffer Buffer { get; } = new();

    internal WireSession Session { get; }

    internal static WireScratch Rent(CallRuntime? runtime, object? codecProvider = null)
    {
        var scratch = t_scratch;
        t_scratch = null;
        if (scratch is null || !scratch.Session.IsOf(runtime))
            scratch = new WireScratch(runtime);
        scratch.Session.CodecProvider = codecProvider;
        return scratch;
    }

    internal void Return()
    {
        Buffer.Clear();
        Session.Reset();
        t_scratch = this;
    }
}

/// <summary>
/// The first byte of a message of ours outside of frames, so that one serializer reads both what it wrote to bytes and what it wrote as a
/// field to a <see cref="Writer{TBufferWriter}"/>: the tag of a field whose kind does not exist.
/// </summary>
internal static class MessageMark
{
    internal const byte Value = 0xA0;

    internal static bool IsField(ReadOnlySpan<byte> bytes) => bytes is [not Value, ..];

    internal static bool IsMessage(Field field) => field.Tag == Value;

    /// <summary>A message whose mark was read as the tag of a field: the mark and all that follows.</summary>
    internal static byte[] Take<TInput>(ref Reader<TInput> reader)
    {
        var bytes = new byte[reader.Remaining + 1];
        bytes[0] = Value;
        reader.ReadBytes(bytes.AsSpan(1));
        return bytes;
    }
}
