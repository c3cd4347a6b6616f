using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Ticks.</summary>
internal sealed class TimeOnlyCodec() : PlainCodec<TimeOnly>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, TimeOnly value) => writer.WriteVarInt64(value.Ticks);

    public override TimeOnly Read(ref WireReader reader) => Parsing.TimeOnly(reader.ReadVarInt64());
}
