using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Length and bytes, little endian.</summary>
internal sealed class BigIntegerCodec() : PlainCodec<System.Numerics.BigInteger>(WireKind.Bytes)
{
    public override void Write(ref WireWriter writer, System.Numerics.BigInteger value) => writer.WriteBytes(value.ToByteArray());

    public override System.Numerics.BigInteger Read(ref WireReader reader) => new(reader.ReadBytes());
}
