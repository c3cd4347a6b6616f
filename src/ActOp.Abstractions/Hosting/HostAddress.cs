using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using Orleans.Runtime;

namespace ActOp.Hosting;

/// <summary>Finds the address under which others reach a machine.</summary>
internal static class HostAddress
{
    /// <summary>
    /// An address of <paramref name="host"/>, or of this machine when it is empty; one that only the machine itself reaches when there is
    /// no other.
    /// </summary>
    /// <exception cref="OrleansConfigurationException">There is no address of that kind.</exception>
    internal static IPAddress Of(string? host, AddressFamily family)
    {
        var candidates = string.IsNullOrWhiteSpace(host) ? OfThisMachine() : OfName(host, family);
        var usable = candidates.Where(address => address.AddressFamily == family && !address.IsIPv6LinkLocal).ToArray();
        return usable.FirstOrDefault(address => !IPAddress.IsLoopback(address))
            ?? usable.FirstOrDefault()
            ?? throw new OrleansConfigurationException("EndpointOptions.AdvertisedIPAddress is not set, and " + (string.IsNullOrWhiteSpace(host) ? "this machine" : "'" + host + "'") + " has no address of the kind " + family + ".");
    }

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
            throw new OrleansConfigurationException("EndpointOptions.AdvertisedIPAddress: the name '" + host + "' cannot be looked up.", exception);
        }
    }
}
