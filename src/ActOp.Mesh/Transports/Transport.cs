using System.Net;

namespace ActOp.Mesh.Transports;

/// <summary>
/// Where byte streams come from. Everything above (links, frames, handshake, sessions) is the same code for every transport.
/// All members may be called from any thread.
/// </summary>
public abstract class Transport
{
    /// <summary>
    /// Starts a connection without waiting for it. The stream reports readiness when it is connected or has failed; a failure shows as the
    /// result of <see cref="ByteStream.Receive"/>. Throws when the process cannot make a stream: no descriptor is left, or the endpoint is
    /// of a kind that the transport does not know.
    /// </summary>
    public abstract ByteStream Dial(EndPoint endPoint);

    /// <summary>Accepts connections at <paramref name="endPoint"/> until disposed; <paramref name="accepted"/> must not block.</summary>
    /// <param name="endPoint">Where; port 0 picks a free one.</param>
    /// <param name="accepted">Takes each connection and owns it from then on, on any thread, one at a time.</param>
    /// <param name="failed">Told of each failure to accept; accepting goes on after a pause.</param>
    /// <exception cref="System.Net.Sockets.SocketException">The endpoint cannot be bound.</exception>
    public abstract Listener Listen(EndPoint endPoint, Action<ByteStream> accepted, Action<Exception> failed);

    /// <summary>A new set of streams that one thread can wait on.</summary>
    public abstract Readiness CreateReadiness();
}

/// <summary>An endpoint where connections are accepted; dispose to stop.</summary>
public abstract class Listener : IDisposable
{
    /// <summary>The endpoint in use, with the port that was picked.</summary>
    public abstract EndPoint EndPoint { get; }

    /// <summary>Stops accepting; accepted connections stay.</summary>
    public abstract void Dispose();
}
