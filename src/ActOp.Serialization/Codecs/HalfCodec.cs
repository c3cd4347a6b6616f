using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Varint of the bits.</summary>
internal sealed class HalfCodec() : PlainCodec<Half>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, Half value) => writer.WriteVarUInt32(BitConverter.HalfToUInt16Bits(value));

    public override Half Read(ref WireReader reader) => BitConverter.UInt16BitsToHalf((ushort)Parsing.InRange(reader.ReadVarUInt32(), ushort.MinValue, ushort.MaxValue));
}
