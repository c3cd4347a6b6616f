using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>8 bytes.</summary>
internal sealed class DoubleCodec() : PlainCodec<double>(WireKind.Fixed64)
{
    public override void Write(ref WireWriter writer, double value) => writer.WriteFixed64(BitConverter.DoubleToUInt64Bits(value));

    public override double Read(ref WireReader reader) => BitConverter.UInt64BitsToDouble(reader.ReadFixed64());
}
