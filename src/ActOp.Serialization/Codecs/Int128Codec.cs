using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>16 bytes.</summary>
internal sealed class Int128Codec() : PlainCodec<Int128>(WireKind.Fixed128)
{
    public override void Write(ref WireWriter writer, Int128 value) => Parsing.Write(ref writer, (UInt128)value);

    public override Int128 Read(ref WireReader reader) => (Int128)Parsing.UInt128(ref reader);
}
