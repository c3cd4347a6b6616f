namespace Orleans.Configuration;

/// <summary>How calls are sent and how long they may take.</summary>
public abstract class MessagingOptions
{
    /// <summary>Whether a call that took too long is cancelled at the callee. Default: false.</summary>
    public bool CancelRequestOnTimeout { get; set; } = false;

    /// <summary>Whether a call that the callee's silo does not know any more is failed. Default: true.</summary>
    public bool CancelUnknownRequestOnStatusUpdate { get; set; } = true;

    /// <summary>Whether calls whose caller no longer waits are dropped before they run. Default: true.</summary>
    public bool DropExpiredMessages { get; set; } = true;

    /// <summary>The most bytes of the arguments or the result of one call. Default: 100 MiB.</summary>
    public int MaxMessageBodySize { get; set; } = 100 * 1024 * 1024;

    /// <summary>The most bytes of what is sent beside them. Default: 10 MiB.</summary>
    public int MaxMessageHeaderSize { get; set; } = 10 * 1024 * 1024;

    /// <summary>How long a caller waits for an answer. Default: 30 s.</summary>
    public TimeSpan ResponseTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>The same while a debugger is attached. Default: 30 min.</summary>
    public TimeSpan ResponseTimeoutWithDebugger { get; set; } = TimeSpan.FromMinutes(30);

    /// <summary>Whether a cancelled call waits until the callee has ended. Default: false.</summary>
    public bool WaitForCancellationAcknowledgement { get; set; } = false;
}
