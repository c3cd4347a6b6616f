using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Varint.</summary>
internal sealed class ByteCodec() : PlainCodec<byte>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, byte value) => writer.WriteVarUInt32(value);

    public override byte Read(ref WireReader reader) => (byte)Parsing.InRange(reader.ReadVarUInt32(), byte.MinValue, byte.MaxValue);
}
