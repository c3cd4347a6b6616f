using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Varint.</summary>
internal sealed class UInt64Codec() : PlainCodec<ulong>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, ulong value) => writer.WriteVarUInt64(value);

    public override ulong Read(ref WireReader reader) => reader.ReadVarUInt64();
}
