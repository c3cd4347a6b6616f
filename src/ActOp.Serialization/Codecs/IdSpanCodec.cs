using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Length and UTF-8.</summary>
internal sealed class IdSpanCodec() : PlainCodec<Orleans.Runtime.IdSpan>(WireKind.Bytes)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.IdSpan value) => writer.WriteBytes(value.AsSpan());

    public override Orleans.Runtime.IdSpan Read(ref WireReader reader) => Parsing.IdSpan(ref reader);
}
