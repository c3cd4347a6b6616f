using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Type and key.</summary>
internal sealed class GrainIdCodec() : PlainCodec<Orleans.Runtime.GrainId>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.GrainId value) => Parsing.Write(ref writer, value);

    public override Orleans.Runtime.GrainId Read(ref WireReader reader) => Parsing.GrainId(ref reader);
}
