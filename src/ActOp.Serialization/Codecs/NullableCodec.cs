using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>0 for null; 1 and the value.</summary>
internal sealed class NullableCodec<T> : Codec<T?>
    where T : struct
{
    public override bool IsImmutable => Codec<T>.Default.IsImmutable;

    public override T? Copy(T? value, CopyContext context) => value is { } some ? Codec<T>.Default.Copy(some, context) : null;

    public override void Write(ref WireWriter writer, T? value)
    {
        writer.WriteByte(value is null ? (byte)0 : (byte)1);
        if (value is { } some)
            Codec<T>.Default.Write(ref writer, some);
    }

    public override T? Read(ref WireReader reader) => reader.ReadByte() == 0 ? null : Codec<T>.Default.Read(ref reader);

    public override void WriteMember(ref WireWriter writer, uint delta, T? value)
    {
        if (value is { } some)
            Codec<T>.Default.WriteMember(ref writer, delta, some);
        else
            writer.WriteTag(delta, WireKind.Null);
    }

    public override T? ReadMember(ref WireReader reader, WireKind kind) => kind == WireKind.Null ? null : Codec<T>.Default.ReadMember(ref reader, kind);
}
