namespace Orleans.Messaging;

/// <summary>Where a client finds the gateways of the cluster. Registered in the container of the client; any thread, one call at a time.</summary>
public interface IGatewayListProvider
{
    /// <summary>How old the list may be.</summary>
    TimeSpan MaxStaleness { get; }

    /// <summary>The gateways at present, as <c>gwy.tcp://host:port/generation</c>. If it fails, the client keeps the list that it had.</summary>
    Task<IList<Uri>> GetGateways();

    /// <summary>Called once before the first list.</summary>
    Task InitializeGatewayListProvider();
}
