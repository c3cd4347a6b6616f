namespace Orleans.Networking.Shared;

/// <summary>
/// The sockets of a silo or client. As long as no option of keep-alives is changed, those of ActOp are in use: they find a lost connection
/// after a minute.
/// </summary>
public class SocketConnectionOptions
{
    /// <summary>The queues of threads that serve sockets; without effect, because stages have threads of their own.</summary>
    public int IOQueueCount { get; set; } = Math.Min(Environment.ProcessorCount, 16);

    /// <summary>Whether small messages are sent at once, without waiting for more (TCP_NODELAY). Default true.</summary>
    public bool NoDelay { get; set; } = true;

    /// <summary>Whether the system looks after idle connections. Default true.</summary>
    public bool KeepAlive { get; set; } = true;

    /// <summary>Seconds that a connection is idle before the system asks the other end. Default 90.</summary>
    public int KeepAliveTimeSeconds { get; set; } = 90;

    /// <summary>Seconds between two questions without an answer. Default 30.</summary>
    public int KeepAliveIntervalSeconds { get; set; } = 30;

    /// <summary>Questions without an answer before the connection is lost. Default 10.</summary>
    public int KeepAliveRetryCount { get; set; } = 10;
}
