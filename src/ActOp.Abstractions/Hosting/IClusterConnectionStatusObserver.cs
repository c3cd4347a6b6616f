namespace Orleans;

/// <summary>Is told of the connections of a client.</summary>
public interface IClusterConnectionStatusObserver
{
    /// <summary>The last connection is lost.</summary>
    void NotifyClusterConnectionLost();

    /// <summary>The number of silos that the client is connected to has changed.</summary>
    void NotifyGatewayCountChanged(int currentNumberOfGateways, int previousNumberOfGateways, bool connectionRecovered);
}
