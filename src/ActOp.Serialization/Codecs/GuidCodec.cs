using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>16 bytes.</summary>
internal sealed class GuidCodec() : PlainCodec<Guid>(WireKind.Fixed128)
{
    public override void Write(ref WireWriter writer, Guid value) => Parsing.Write(ref writer, value);

    public override Guid Read(ref WireReader reader) => Parsing.Guid(ref reader);
}
