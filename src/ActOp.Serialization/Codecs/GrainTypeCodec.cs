using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Length and UTF-8.</summary>
internal sealed class GrainTypeCodec() : PlainCodec<Orleans.Runtime.GrainType>(WireKind.Bytes)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.GrainType value) => writer.WriteBytes(value.AsSpan());

    public override Orleans.Runtime.GrainType Read(ref WireReader reader) => new(Parsing.IdSpan(ref reader));
}
