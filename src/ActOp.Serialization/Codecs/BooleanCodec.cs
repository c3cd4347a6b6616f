using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>One byte.</summary>
internal sealed class BooleanCodec() : PlainCodec<bool>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, bool value) => writer.WriteByte(value ? (byte)1 : (byte)0);

    public override bool Read(ref WireReader reader) => reader.ReadVarUInt64() != 0;
}
