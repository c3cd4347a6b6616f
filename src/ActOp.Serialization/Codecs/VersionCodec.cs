using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The text.</summary>
internal sealed class VersionCodec() : PlainCodec<Version?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, Version? value) => writer.WriteNullableString(value?.ToString());

    public override Version? Read(ref WireReader reader) => Parsing.Version(reader.ReadNullableString());
}
