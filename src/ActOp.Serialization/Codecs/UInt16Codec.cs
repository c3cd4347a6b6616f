using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Varint.</summary>
internal sealed class UInt16Codec() : PlainCodec<ushort>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, ushort value) => writer.WriteVarUInt32(value);

    public override ushort Read(ref WireReader reader) => (ushort)Parsing.InRange(reader.ReadVarUInt32(), ushort.MinValue, ushort.MaxValue);
}
