using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The original text.</summary>
internal sealed class UriCodec() : PlainCodec<Uri?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, Uri? value) => writer.WriteNullableString(value?.OriginalString);

    public override Uri? Read(ref WireReader reader) => Parsing.Uri(reader.ReadNullableString());
}
