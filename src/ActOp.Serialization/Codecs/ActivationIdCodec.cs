using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The text.</summary>
internal sealed class ActivationIdCodec() : PlainCodec<Orleans.Runtime.ActivationId>(WireKind.Bytes)
{
    public override void Write(ref WireWriter writer, Orleans.Runtime.ActivationId value) => writer.WriteString(value.IsDefault ? "" : value.ToParsableString());

    public override Orleans.Runtime.ActivationId Read(ref WireReader reader) => Parsing.Activation(reader.ReadString());
}
