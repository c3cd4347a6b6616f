using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Zigzag varint.</summary>
internal sealed class Int64Codec() : PlainCodec<long>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, long value) => writer.WriteVarInt64(value);

    public override long Read(ref WireReader reader) => reader.ReadVarInt64();
}
