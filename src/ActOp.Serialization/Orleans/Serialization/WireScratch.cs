using ActOp.Calls;
using ActOp.Serialization;
using ActOp.Wire;

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
/// Messages of ours outside of frames. Their first byte is a mark, so that one serializer reads both them and the fields that codecs of
/// applications write: the tag of a field whose kind does not exist. Any thread.
/// </summary>
internal static class MarkedMessage
{
    internal const byte Mark = 0xA0;

    internal static bool IsField(ReadOnlySpan<byte> bytes) => bytes is [not Mark, ..];

    /// <summary>The value behind the mark, in a buffer to be returned.</summary>
    internal static WireScratch Write<T>(T value, CallRuntime? runtime, ICodecScope? scope)
    {
        var scratch = WireScratch.Rent(runtime, scope);
        var writer = new WireWriter(scratch.Buffer, scratch.Session);
        writer.WriteByte(Mark);
        Codec<T>.Default.Write(ref writer, value);
        writer.Commit();
        return scratch;
    }

    /// <inheritdoc cref="Write"/>
    internal static byte[] ToArray<T>(T value, ICodecScope scope)
    {
        var scratch = Write(value, scope.Runtime, scope);
        var bytes = scratch.Buffer.Written.ToArray();
        scratch.Return();
        return bytes;
    }

    /// <summary>Reads what <see cref="Write"/> has written; more bytes may follow.</summary>
    /// <exception cref="SerializerException">The data are damaged.</exception>
    internal static T Read<T>(ReadOnlySpan<byte> source, CallRuntime? runtime, ICodecScope? scope, out int length)
    {
        var scratch = WireScratch.Rent(runtime, scope);
        var reader = new WireReader(source, scratch.Session);
        reader.ReadByte();
        var value = Codec<T>.Default.Read(ref reader);
        length = reader.Position;
        scratch.Return();
        return value;
    }
}
