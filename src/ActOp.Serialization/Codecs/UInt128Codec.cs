using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>16 bytes.</summary>
internal sealed class UInt128Codec() : PlainCodec<UInt128>(WireKind.Fixed128)
{
    public override void Write(ref WireWriter writer, UInt128 value) => Parsing.Write(ref writer, value);

    public override UInt128 Read(ref WireReader reader) => Parsing.UInt128(ref reader);
}
