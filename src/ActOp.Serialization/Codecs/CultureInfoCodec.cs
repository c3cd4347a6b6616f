using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The name.</summary>
internal sealed class CultureInfoCodec() : PlainCodec<System.Globalization.CultureInfo?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, System.Globalization.CultureInfo? value) => writer.WriteNullableString(value?.Name);

    public override System.Globalization.CultureInfo? Read(ref WireReader reader) => Parsing.Culture(reader.ReadNullableString());
}
