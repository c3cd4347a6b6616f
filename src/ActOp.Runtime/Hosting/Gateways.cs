using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Runtime.Messaging;

namespace ActOp.Runtime.Hosting;

/// <summary>Finds the addresses of a host; in the container only if a test replaces the system's.</summary>
internal sealed record NameSeam(Func<string, CancellationToken, Task<IPAddress[]>> Resolve);

/// <summary>The gateways that a client is configured with: endpoints and host names.</summary>
/// <remarks>
/// Holds the addresses that the names had last. Any thread calls; one resolution of the list at a time, which runs on the thread pool and
/// never on a stage. If a name cannot be resolved, its last addresses stay; if it never could be, it is left out, and the failure is thrown
/// only if nothing else is known.
/// </remarks>
internal sealed class Gateways(EndPoint[] configured, int preferred, NameSeam names)
{
    private readonly IPEndPoint[]?[] _resolved = new IPEndPoint[configured.Length][];

    /// <summary>Whether there are host names.</summary>
    internal bool HasNames { get; } = configured.Any(static endPoint => endPoint is DnsEndPoint);

    /// <summary>Whether one of the list is preferred.</summary>
    internal bool HasPreferred => preferred >= 0;

    /// <summary>The endpoints of the preferred gateway, as last resolved.</summary>
    internal IEnumerable<EndPoint> Preferred => HasPreferred ? At(preferred) : [];

    /// <summary>All endpoints, after the names were resolved.</summary>
    internal async Task<EndPoint[]> ResolveAsync(CancellationToken cancellationToken)
    {
        Exception? failure = null;
        for (var index = 0; index < configured.Length; index++)
        {
            if (configured[index] is not DnsEndPoint name)
                continue;
            try
            {
                var addresses = await names.Resolve(name.Host, cancellationToken).ConfigureAwait(false);
                if (addresses.Length > 0)
                    Volatile.Write(ref _resolved[index], [.. addresses.Select(address => new IPEndPoint(address, name.Port))]);
            }
            catch (Exception exception) when (exception is SocketException or ArgumentException)
            {
                failure = exception;
            }
        }

        EndPoint[] all = [.. Enumerable.Range(0, configured.Length).SelectMany(At)];
        return all.Length > 0 ? all : throw new ConnectionFailedException("No gateway has an address: " + this + ".", failure!);
    }

    public override string ToString() => string.Join(", ", configured.Select(static endPoint =>
        endPoint is DnsEndPoint name ? name.Host + ":" + name.Port : endPoint.ToString()));

    /// <summary>The gateway of <c>gwy.tcp://host:port/generation</c>.</summary>
    internal static EndPoint Parse(Uri uri)
    {
        if (uri is not { IsAbsoluteUri: true, Host.Length: > 0, Port: > 0 })
        {
            throw new OrleansConfigurationException("StaticGatewayListProviderOptions.Gateways must have elements of the form "
                + "gwy.tcp://host:port/0, but has " + uri + ".");
        }

        return IPAddress.TryParse(uri.Host, out var address) ? new IPEndPoint(address, uri.Port) : new DnsEndPoint(uri.Host, uri.Port);
    }

    private IEnumerable<EndPoint> At(int index) => configured[index] is IPEndPoint known ? [known] : Volatile.Read(ref _resolved[index]) ?? [];
}

/// <summary>The address that a client has in its id. It is dialled by nobody.</summary>
internal static class ClientAddress
{
    internal static IPAddress Of(ClientMessagingOptions options)
    {
        if (options.LocalAddress is { } given)
            return given;
        var name = options.NetworkInterfaceName;
        var found = NetworkInterface.GetAllNetworkInterfaces()
            .Where(one => string.IsNullOrEmpty(name)
                ? one is { OperationalStatus: OperationalStatus.Up, NetworkInterfaceType: not NetworkInterfaceType.Loopback }
                : one.Name.StartsWith(name, StringComparison.Ordinal))
            .SelectMany(static one => one.GetIPProperties().UnicastAddresses)
            .Select(static unicast => unicast.Address)
            .FirstOrDefault(address => address.AddressFamily == options.PreferredFamily);
        if (found is not null)
            return found;
        if (!string.IsNullOrEmpty(name))
        {
            throw new OrleansConfigurationException("ClientMessagingOptions.NetworkInterfaceName is " + name
                + ", but no interface of this name has an address of the family " + options.PreferredFamily + ".");
        }

        return options.PreferredFamily == AddressFamily.InterNetworkV6 ? IPAddress.IPv6Loopback : IPAddress.Loopback;
    }
}
