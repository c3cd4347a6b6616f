namespace Orleans.TestingHost;

/// <summary>How the silos and the client of a <see cref="TestCluster"/> are connected.</summary>
public enum ConnectionTransportType
{
    /// <summary>TCP over loopback.</summary>
    TcpSocket = 0,

    /// <summary>A network in memory: no ports of the machine, no sockets.</summary>
    InMemory = 1,

    /// <summary>Not available: a cluster with it fails to deploy.</summary>
    UnixSocket = 2,
}
