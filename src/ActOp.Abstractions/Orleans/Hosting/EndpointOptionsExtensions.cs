using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using Orleans.Configuration;
using Orleans.Runtime;

namespace Orleans.Hosting;

/// <summary>Where a silo listens, and under which address others reach it.</summary>
public static class EndpointOptionsExtensions
{
    /// <summary>Sets ports and the name under which others reach the silo; the name is looked up when the silo starts.</summary>
    /// <param name="builder">The silo.</param>
    /// <param name="hostname">The name; null or empty for this machine's.</param>
    /// <param name="siloPort">Port for silos.</param>
    /// <param name="gatewayPort">Port for clients; 0 for none.</param>
    /// <param name="addressFamily">The kind of address that is used.</param>
    /// <param name="listenOnAnyHostAddress">Whether the silo listens on all addresses of the machine instead of that one.</param>
    /// <exception cref="OrleansConfigurationException">At start: the name has no address of that kind.</exception>
    public static ISiloBuilder ConfigureEndpoints(
        this ISiloBuilder builder, string? hostname, int siloPort, int gatewayPort,
        AddressFamily addressFamily = AddressFamily.InterNetwork, bool listenOnAnyHostAddress = false) =>
        builder.Configure<EndpointOptions>(
            options => Set(options, HostAddress.AddressOf(hostname, addressFamily), siloPort, gatewayPort, listenOnAnyHostAddress));

    /// <summary>Sets ports; others reach the silo under an address of this machine that is found out when the silo starts.</summary>
    /// <param name="builder">The silo.</param>
    /// <param name="siloPort">Port for silos.</param>
    /// <param name="gatewayPort">Port for clients; 0 for none.</param>
    /// <param name="addressFamily">The kind of address that is used.</param>
    /// <param name="listenOnAnyHostAddress">Whether the silo listens on all addresses of the machine instead of that one.</param>
    /// <exception cref="OrleansConfigurationException">At start: the machine has no address of that kind.</exception>
    public static ISiloBuilder ConfigureEndpoints(
        this ISiloBuilder builder, int siloPort, int gatewayPort, AddressFamily addressFamily = AddressFamily.InterNetwork,
        bool listenOnAnyHostAddress = false) =>
        builder.ConfigureEndpoints(null, siloPort, gatewayPort, addressFamily, listenOnAnyHostAddress);

    /// <summary>Sets ports and the address under which others reach the silo.</summary>
    /// <param name="builder">The silo.</param>
    /// <param name="advertisedIP">The address.</param>
    /// <param name="siloPort">Port for silos.</param>
    /// <param name="gatewayPort">Port for clients; 0 for none.</param>
    /// <param name="listenOnAnyHostAddress">Whether the silo listens on all addresses of the machine instead of that one.</param>
    public static ISiloBuilder ConfigureEndpoints(
        this ISiloBuilder builder, IPAddress advertisedIP, int siloPort, int gatewayPort, bool listenOnAnyHostAddress = false)
    {
        ArgumentNullException.ThrowIfNull(advertisedIP);
        return builder.Configure<EndpointOptions>(options => Set(options, advertisedIP, siloPort, gatewayPort, listenOnAnyHostAddress));
    }

    private static void Set(EndpointOptions options, IPAddress advertised, int siloPort, int gatewayPort, bool listenOnAnyHostAddress)
    {
        options.AdvertisedIPAddress = advertised;
        options.SiloPort = siloPort;
        options.GatewayPort = gatewayPort;
        if (!listenOnAnyHostAddress)
            return;
        var any = advertised.AddressFamily == AddressFamily.InterNetworkV6 ? IPAddress.IPv6Any : IPAddress.Any;
        options.SiloListeningEndpoint = new IPEndPoint(any, siloPort);
        options.GatewayListeningEndpoint = new IPEndPoint(any, gatewayPort);
    }
}

/// <summary>Finds the address under which others reach a machine.</summary>
internal static class HostAddress
{
    /// <summary>
    /// An address of <paramref name="host"/>, or of this machine when it is empty; one that only the machine itself reaches when there is
    /// no other.
    /// </summary>
    /// <exception cref="OrleansConfigurationException">There is no address of that kind.</exception>
    internal static IPAddress AddressOf(string? host, AddressFamily family)
    {
        var candidates = string.IsNullOrWhiteSpace(host) ? OfThisMachine() : OfName(host, family);
        var usable = candidates.Where(address => address.AddressFamily == family && !address.IsIPv6LinkLocal).ToArray();
        return usable.FirstOrDefault(address => !IPAddress.IsLoopback(address))
            ?? usable.FirstOrDefault()
            ?? throw new OrleansConfigurationException(
                "EndpointOptions.AdvertisedIPAddress is not set, and " +
                    (string.IsNullOrWhiteSpace(host) ? "this machine" : "'" + host + "'") + " has no address of the kind " + family + ".");
    }

    /// <summary>
    /// The first address of this machine that others may reach, of version 4 of the Internet protocol; loopback if there is none.
    /// </summary>
    internal static IPAddress Own() => AddressOf(null, AddressFamily.InterNetwork);

    private static IPAddress[] OfThisMachine() =>
    [
        .. NetworkInterface.GetAllNetworkInterfaces()
            .Where(network => network.OperationalStatus == OperationalStatus.Up)
            .SelectMany(network => network.GetIPProperties().UnicastAddresses)
            .Select(unicast => unicast.Address),
        .. new[] { IPAddress.Loopback, IPAddress.IPv6Loopback },
    ];

    private static IPAddress[] OfName(string host, AddressFamily family)
    {
        try
        {
            return IPAddress.TryParse(host, out var address) ? [address] : Dns.GetHostAddresses(host, family);
        }
        catch (SocketException exception)
        {
            throw new OrleansConfigurationException(
                "EndpointOptions.AdvertisedIPAddress: the name '" + host + "' cannot be looked up.", exception);
        }
    }
}
