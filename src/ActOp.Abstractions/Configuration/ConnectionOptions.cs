namespace Orleans.Configuration;

/// <summary>Connections between silos and from clients.</summary>
public class ConnectionOptions
{
    /// <summary>The default of <see cref="OpenConnectionTimeout"/>.</summary>
    public static readonly TimeSpan DEFAULT_OPENCONNECTION_TIMEOUT = TimeSpan.FromSeconds(5);

    /// <summary>Time between two attempts to connect to the same place. Default: 1 s.</summary>
    public TimeSpan ConnectionRetryDelay { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>How many connections are held to each place. Default: 1.</summary>
    public int ConnectionsPerEndpoint { get; set; } = 1;

    /// <summary>How long an attempt may take. Default: 5 s.</summary>
    public TimeSpan OpenConnectionTimeout { get; set; } = DEFAULT_OPENCONNECTION_TIMEOUT;
}
