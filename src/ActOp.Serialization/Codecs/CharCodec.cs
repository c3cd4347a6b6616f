using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Varint.</summary>
internal sealed class CharCodec() : PlainCodec<char>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, char value) => writer.WriteVarUInt32(value);

    public override char Read(ref WireReader reader) => (char)Parsing.InRange(reader.ReadVarUInt32(), char.MinValue, char.MaxValue);
}
