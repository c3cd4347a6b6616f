using System.Net;

namespace ActOp.Mesh.Transports.Memory;

internal sealed class MemoryTransport(MemoryNetwork network, EndPoint local) : Transport
{
    public override ByteStream Dial(EndPoint endPoint) => network.Dial(local, endPoint);

    public override Listener Listen(EndPoint endPoint, Action<ByteStream> accepted, Action<Exception> failed) => network.Listen(endPoint, accepted);

    public override Readiness CreateReadiness() => new MemoryReadiness(network);
}
