namespace Orleans;

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
