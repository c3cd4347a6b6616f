using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Scalar value.</summary>
internal sealed class RuneCodec() : PlainCodec<System.Text.Rune>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, System.Text.Rune value) => writer.WriteVarInt32(value.Value);

    public override System.Text.Rune Read(ref WireReader reader) => Parsing.Rune(reader.ReadVarInt32());
}
