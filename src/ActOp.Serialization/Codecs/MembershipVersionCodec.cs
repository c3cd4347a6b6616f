using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Zigzag varint.</summary>
internal sealed class MembershipVersionCodec() : PlainCodec<Orleans.Runtime.MembershipVersion>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.MembershipVersion value) => writer.WriteVarInt64(value.Value);

    public override Orleans.Runtime.MembershipVersion Read(ref WireReader reader) => new(reader.ReadVarInt64());
}
