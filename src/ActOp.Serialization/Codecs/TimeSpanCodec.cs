using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Ticks.</summary>
internal sealed class TimeSpanCodec() : PlainCodec<TimeSpan>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, TimeSpan value) => writer.WriteVarInt64(value.Ticks);

    public override TimeSpan Read(ref WireReader reader) => new(reader.ReadVarInt64());
}
