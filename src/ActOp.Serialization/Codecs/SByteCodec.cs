using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Zigzag varint.</summary>
internal sealed class SByteCodec() : PlainCodec<sbyte>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, sbyte value) => writer.WriteVarInt32(value);

    public override sbyte Read(ref WireReader reader) => (sbyte)Parsing.InRange(reader.ReadVarInt32(), sbyte.MinValue, sbyte.MaxValue);
}
