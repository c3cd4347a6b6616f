using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Zigzag varint.</summary>
internal sealed class Int32Codec() : PlainCodec<int>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, int value) => writer.WriteVarInt32(value);

    public override int Read(ref WireReader reader) => reader.ReadVarInt32();
}
