using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>8 bytes: ticks and kind.</summary>
internal sealed class DateTimeCodec() : PlainCodec<DateTime>(WireKind.Fixed64)
{
    public override void Write(ref WireWriter writer, DateTime value) => writer.WriteFixed64((ulong)value.ToBinary());

    public override DateTime Read(ref WireReader reader) => Parsing.DateTime((long)reader.ReadFixed64());
}
