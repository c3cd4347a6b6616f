using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Zigzag varint.</summary>
internal sealed class Int16Codec() : PlainCodec<short>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, short value) => writer.WriteVarInt32(value);

    public override short Read(ref WireReader reader) => (short)Parsing.InRange(reader.ReadVarInt32(), short.MinValue, short.MaxValue);
}
