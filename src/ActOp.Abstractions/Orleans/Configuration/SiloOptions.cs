using System.Net;

namespace Orleans.Configuration;

/// <summary>The silo itself.</summary>
public class SiloOptions
{
    /// <summary>The silo's name in logs and the membership table; null until it is set; the silo then makes one up.</summary>
    public string SiloName { get; set; } = null!;
}

/// <summary>Where a silo listens, and under which address others reach it.</summary>
public class EndpointOptions
{
    /// <summary>The default of <see cref="SiloPort"/>.</summary>
    public const int DEFAULT_SILO_PORT = 11111;

    /// <summary>The default of <see cref="GatewayPort"/>.</summary>
    public const int DEFAULT_GATEWAY_PORT = 30000;

    private IPAddress? _advertisedIPAddress;

    /// <summary>
    /// The address under which others reach the silo. Default: null, and the silo takes its first IPv4 address that is not loopback, or
    /// loopback if it has no other (also if the primary silo of development clustering is at loopback).
    /// </summary>
    /// <exception cref="ArgumentException">The address stands for any or for none.</exception>
    public IPAddress AdvertisedIPAddress
    {
        get => _advertisedIPAddress!;
        set
        {
            if (value is not null
                && (value.Equals(IPAddress.Any) || value.Equals(IPAddress.IPv6Any) || value.Equals(IPAddress.None)
                    || value.Equals(IPAddress.IPv6None)))
            {
                throw new ArgumentException(
                    "AdvertisedIPAddress must be an address that others can connect to, and " + value + " is none.", nameof(value));
            }

            _advertisedIPAddress = value;
        }
    }

    /// <summary>Where the silo listens for clients; null for <see cref="AdvertisedIPAddress"/> and <see cref="GatewayPort"/>.</summary>
    public IPEndPoint? GatewayListeningEndpoint { get; set; }

    /// <summary>The port under which clients reach the silo; 0 for no clients. Default: 30000.</summary>
    public int GatewayPort { get; set; } = DEFAULT_GATEWAY_PORT;

    /// <summary>Where the silo listens for silos; null for <see cref="AdvertisedIPAddress"/> and <see cref="SiloPort"/>.</summary>
    public IPEndPoint? SiloListeningEndpoint { get; set; }

    /// <summary>The port under which silos reach the silo. Default: 11111.</summary>
    public int SiloPort { get; set; } = DEFAULT_SILO_PORT;
}

/// <summary>The metadata of this silo, see <c>UseSiloMetadata</c>.</summary>
internal sealed class SiloMetadataOptions
{
    internal Dictionary<string, string> Metadata { get; } = new(StringComparer.Ordinal);
}
