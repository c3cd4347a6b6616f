using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Grain, activation, silo and view.</summary>
internal sealed class GrainAddressCodec() : PlainCodec<Orleans.Runtime.GrainAddress?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.GrainAddress? value) => Parsing.Write(ref writer, value);

    public override Orleans.Runtime.GrainAddress? Read(ref WireReader reader) => Parsing.GrainAddress(ref reader);
}
