using System.Net;

namespace ActOp.Mesh.Transports.Memory;

internal sealed class MemoryListener(MemoryNetwork network, EndPoint endPoint, Action<ByteStream> accepted) : Listener
{
    public override EndPoint EndPoint { get; } = endPoint;

    public void Accepted(ByteStream stream) => accepted(stream);

    public override void Dispose() => network.StopListening(this);
}
