using System.Net;

namespace ActOp.Mesh.Transports;

/// <summary>An endpoint where connections are accepted; dispose to stop.</summary>
public abstract class Listener : IDisposable
{
    /// <summary>The endpoint in use, with the port that was picked.</summary>
    public abstract EndPoint EndPoint { get; }

    /// <summary>Stops accepting; accepted connections stay.</summary>
    public abstract void Dispose();
}
