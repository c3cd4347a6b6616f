using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Day number.</summary>
internal sealed class DateOnlyCodec() : PlainCodec<DateOnly>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, DateOnly value) => writer.WriteVarInt32(value.DayNumber);

    public override DateOnly Read(ref WireReader reader) => Parsing.DateOnly(reader.ReadVarInt32());
}
