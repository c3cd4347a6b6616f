using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Length and bytes.</summary>
internal sealed class IPAddressCodec() : PlainCodec<System.Net.IPAddress?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, System.Net.IPAddress? value) => Parsing.Write(ref writer, value);

    public override System.Net.IPAddress? Read(ref WireReader reader) => Parsing.Address(ref reader);
}
