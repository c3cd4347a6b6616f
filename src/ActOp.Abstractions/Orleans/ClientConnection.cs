namespace Orleans;

/// <summary>Decides whether a client that starts tries again to connect.</summary>
public interface IClientConnectionRetryFilter
{
    /// <summary>True to try again, after whatever time the task takes; false to fail the start.</summary>
    /// <param name="exception">Why the attempt failed.</param>
    /// <param name="cancellationToken">Signalled when the start is given up.</param>
    Task<bool> ShouldRetryConnectionAttempt(Exception exception, CancellationToken cancellationToken);
}

/// <summary>Is told of the connections of a client.</summary>
public interface IClusterConnectionStatusObserver
{
    /// <summary>The last connection is lost.</summary>
    void NotifyClusterConnectionLost();

    /// <summary>The number of silos that the client is connected to has changed.</summary>
    void NotifyGatewayCountChanged(int currentNumberOfGateways, int previousNumberOfGateways, bool connectionRecovered);
}

/// <summary>Called when a client has lost its last connection to the cluster.</summary>
public delegate void ConnectionToClusterLostHandler(object? sender, EventArgs e);

/// <summary>Called when the number of silos that a client is connected to changes.</summary>
public delegate void GatewayCountChangedHandler(object? sender, GatewayCountChangedEventArgs e);

/// <summary>How many silos a client is connected to, and was before.</summary>
public class GatewayCountChangedEventArgs : EventArgs
{
    /// <summary>Creates the event's values.</summary>
    public GatewayCountChangedEventArgs(int currentNumberOfConnectedGateways, int previousNumberOfConnectedGateways)
    {
        NumberOfConnectedGateways = currentNumberOfConnectedGateways;
        PreviousNumberOfConnectedGateways = previousNumberOfConnectedGateways;
    }

    /// <summary>True when there was no connection before and there is one now.</summary>
    public bool ConnectionRecovered => NumberOfConnectedGateways > 0 && PreviousNumberOfConnectedGateways <= 0;

    /// <summary>How many there are now.</summary>
    public int NumberOfConnectedGateways { get; }

    /// <summary>How many there were.</summary>
    public int PreviousNumberOfConnectedGateways { get; }
}

/// <summary>Checks a part of the configuration before anything starts.</summary>
public interface IConfigurationValidator
{
    /// <summary>Throws when something is wrong.</summary>
    /// <exception cref="Orleans.Runtime.OrleansConfigurationException">The message names the option.</exception>
    void ValidateConfiguration();
}
