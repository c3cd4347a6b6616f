using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Varint.</summary>
internal sealed class UInt32Codec() : PlainCodec<uint>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, uint value) => writer.WriteVarUInt32(value);

    public override uint Read(ref WireReader reader) => reader.ReadVarUInt32();
}
