using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The name in the manifest; other types cannot be sent.</summary>
internal sealed class TypeCodec() : PlainCodec<Type?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, Type? value) => writer.WriteNullableString(value is null ? null : TypeManifest.NameOf(value));

    public override Type? Read(ref WireReader reader) => Parsing.Type(reader.ReadNullableString());
}
