namespace Orleans.Configuration;

/// <summary>How a client chooses the silos it connects to.</summary>
public class GatewayOptions
{
    /// <summary>The default of <see cref="PreferredGatewayIndex"/>.</summary>
    public const int DEFAULT_PREFERED_GATEWAY_INDEX = -1;

    /// <summary>How often the list of silos is read again. Default: 1 min.</summary>
    public TimeSpan GatewayListRefreshPeriod { get; set; } = TimeSpan.FromMinutes(1);

    /// <summary>The only silo of the list to connect to, from 0; -1 for all. Default: -1.</summary>
    public int PreferredGatewayIndex { get; set; } = DEFAULT_PREFERED_GATEWAY_INDEX;
}
