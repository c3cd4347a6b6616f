namespace Heartbeat.Options;

/// <summary>What the silo runs.</summary>
public enum Application
{
    /// <summary>A status for each client, updated and read (paper section 6.2).</summary>
    Heartbeat,

    /// <summary>A grain that counts (paper section 3, Figures 4 and 5).</summary>
    Counter,
}
