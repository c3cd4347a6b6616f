using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Ticks and offset in minutes.</summary>
internal sealed class DateTimeOffsetCodec() : PlainCodec<DateTimeOffset>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, DateTimeOffset value) => Parsing.Write(ref writer, value);

    public override DateTimeOffset Read(ref WireReader reader) => Parsing.DateTimeOffset(ref reader);
}
