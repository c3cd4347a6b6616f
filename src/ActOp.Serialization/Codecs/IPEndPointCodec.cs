using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Address and port.</summary>
internal sealed class IPEndPointCodec() : PlainCodec<System.Net.IPEndPoint?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, System.Net.IPEndPoint? value) => Parsing.Write(ref writer, value);

    public override System.Net.IPEndPoint? Read(ref WireReader reader) => Parsing.EndPoint(ref reader);
}
