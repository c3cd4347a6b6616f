using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>16 bytes.</summary>
internal sealed class DecimalCodec() : PlainCodec<decimal>(WireKind.Fixed128)
{
    public override void Write(ref WireWriter writer, decimal value) => Parsing.Write(ref writer, value);

    public override decimal Read(ref WireReader reader) => Parsing.Decimal(ref reader);
}
