using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Length and UTF-8.</summary>
internal sealed class GrainInterfaceTypeCodec() : PlainCodec<Orleans.Runtime.GrainInterfaceType>(WireKind.Bytes)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.GrainInterfaceType value) => writer.WriteBytes(value.Value.AsSpan());

    public override Orleans.Runtime.GrainInterfaceType Read(ref WireReader reader) => new(Parsing.IdSpan(ref reader));
}
