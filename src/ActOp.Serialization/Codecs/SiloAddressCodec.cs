using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>End point and generation.</summary>
internal sealed class SiloAddressCodec() : PlainCodec<Orleans.Runtime.SiloAddress?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.SiloAddress? value) => Parsing.Write(ref writer, value);

    public override Orleans.Runtime.SiloAddress? Read(ref WireReader reader) => Parsing.Silo(ref reader);
}
