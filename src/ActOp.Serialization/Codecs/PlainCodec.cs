using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>A codec of immutable values that are written with one kind as members.</summary>
/// <param name="kind">How <see cref="Codec{T}.Write"/> writes; <see cref="WireKind.Block"/> for anything else.</param>
internal abstract class PlainCodec<T>(WireKind kind) : Codec<T>
{
    public override bool IsImmutable => true;

    public override T Copy(T value, CopyContext context) => value;

    public override void WriteMember(ref WireWriter writer, uint delta, T value)
    {
        if (kind == WireKind.Block)
        {
            base.WriteMember(ref writer, delta, value);
            return;
        }

        writer.WriteTag(delta, kind);
        Write(ref writer, value);
    }

    public override T ReadMember(ref WireReader reader, WireKind actual)
    {
        if (actual == kind && kind != WireKind.Block)
            return Read(ref reader);
        return base.ReadMember(ref reader, actual);
    }
}
