using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Length in bytes plus one, then UTF-8; 0 for null. As a member: length and UTF-8.</summary>
internal sealed class StringCodec : Codec<string?>
{
    public override bool IsImmutable => true;

    public override string? Copy(string? value, CopyContext context) => value;

    public override void Write(ref WireWriter writer, string? value) => writer.WriteNullableString(value);

    public override string? Read(ref WireReader reader) => reader.ReadNullableString();

    public override void WriteMember(ref WireWriter writer, uint delta, string? value)
    {
        writer.WriteTag(delta, value is null ? WireKind.Null : WireKind.Bytes);
        if (value is not null)
            writer.WriteString(value);
    }

    public override string? ReadMember(ref WireReader reader, WireKind kind) => kind switch
    {
        WireKind.Null => null,
        WireKind.Bytes => reader.ReadString(),
        _ => throw WireReader.WrongKind(kind, typeof(string)),
    };
}
