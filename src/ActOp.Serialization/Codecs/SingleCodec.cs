using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>4 bytes.</summary>
internal sealed class SingleCodec() : PlainCodec<float>(WireKind.Fixed32)
{
    public override void Write(ref WireWriter writer, float value) => writer.WriteFixed32(BitConverter.SingleToUInt32Bits(value));

    public override float Read(ref WireReader reader) => BitConverter.UInt32BitsToSingle(reader.ReadFixed32());
}
