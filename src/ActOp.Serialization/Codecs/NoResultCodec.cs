using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>One byte, so that every value has one.</summary>
internal sealed class NoResultCodec() : PlainCodec<ActOp.Calls.NoResult>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, ActOp.Calls.NoResult value) => writer.WriteByte(0);

    public override ActOp.Calls.NoResult Read(ref WireReader reader) => Parsing.NoResult(reader.ReadByte());
}
