using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using Orleans.Configuration;
using Orleans.Messaging;
using Orleans.Runtime;
using Orleans.Runtime.Messaging;

namespace ActOp.Runtime.Nodes;

/// <summary>Finds the addresses of a host; in the container only if a test replaces the system's.</summary>
internal sealed record NameSeam(Func<string, CancellationToken, Task<IPAddress[]>> Resolve);

/// <summary>The gateways of a client: endpoints and host names of its configuration, or the list of a provider.</summary>
/// <remarks>
/// Holds the list that the provider gave last, and the addresses that the names had last. Any thread calls; one resolution of the list at a
/// time, which runs on the thread pool and never on a stage. If the provider fails, its last list stays. If a name cannot be resolved, its
/// last addresses stay; if it never could be, it is left out. A failure is thrown only if nothing else is known.
/// </remarks>
internal sealed class Gateways(
    EndPoint[] configured, int preferred, NameSeam names, IGatewayListProvider? provider = null, string? clusterId = null,
    TimeSpan refreshPeriod = default)
{
    private volatile Listed _listed = new(configured);
    private bool _isProviderReady;

    /// <summary>Whether the addresses must be looked up again from time to time.</summary>
    internal bool MayChange => IsProvided || _listed.EndPoints.Any(static endPoint => endPoint is DnsEndPoint);

    /// <summary>Whether a provider gives the list.</summary>
    internal bool IsProvided => provider is not null;

    /// <summary>How long the addresses may be used before they are looked up again.</summary>
    internal TimeSpan Period { get; } =
        provider is { } list && list.MaxStaleness > TimeSpan.Zero && list.MaxStaleness < refreshPeriod ? list.MaxStaleness : refreshPeriod;

    /// <summary>Whether one of the list is preferred.</summary>
    internal bool HasPreferred => preferred >= 0;

    /// <summary>The endpoints of the preferred gateway, as last resolved.</summary>
    internal IEnumerable<EndPoint> Preferred => HasPreferred && preferred < _listed.EndPoints.Length ? _listed.At(preferred) : [];

    /// <summary>All endpoints, after the names were resolved.</summary>
    internal async Task<EndPoint[]> ResolveAsync(CancellationToken cancellationToken)
    {
        var failure = await ListAsync().ConfigureAwait(false);
        var listed = _listed;
        for (var index = 0; index < listed.EndPoints.Length; index++)
        {
            if (listed.EndPoints[index] is not DnsEndPoint name)
                continue;
            try
            {
                var addresses = await names.Resolve(name.Host, cancellationToken).ConfigureAwait(false);
                if (addresses.Length > 0)
                    listed.Set(index, [.. addresses.Select(address => new IPEndPoint(address, name.Port))]);
            }
            catch (Exception exception) when (exception is SocketException or ArgumentException)
            {
                failure = exception;
            }
        }

        EndPoint[] all = [.. Enumerable.Range(0, listed.EndPoints.Length).SelectMany(listed.At)];
        return all.Length > 0 ? all : throw new ConnectionFailedException(Missing(listed, failure), failure!);
    }

    private string Missing(Listed listed, Exception? failure) =>
        !IsProvided || listed.EndPoints.Length > 0 ? "No gateway has an address: " + this + "."
        : failure is not null ? "The gateways of the cluster could not be read (" + provider!.GetType().Name + "): " + failure.Message
        : "The cluster '" + clusterId + "' has no gateway: " + provider!.GetType().Name
            + " knows no active silo of it that accepts clients. Check ClusterOptions.ClusterId, and that the silos use the same list.";

    public override string ToString() => _listed.EndPoints.Length == 0 && IsProvided ? "any gateway" : string.Join(
        ", ", _listed.EndPoints.Select(static endPoint => endPoint is DnsEndPoint name
            ? name.Host + ":" + name.Port : endPoint.ToString()));

    /// <summary>Asks the provider. Returns its failure, after which the last list stays.</summary>
    private async Task<Exception?> ListAsync()
    {
        if (provider is null)
            return null;
        try
        {
            if (!_isProviderReady)
                await provider.InitializeGatewayListProviderAsync().ConfigureAwait(false);
            _isProviderReady = true;
            EndPoint[] now = [.. (await provider.GetGatewaysAsync().ConfigureAwait(false)).Select(Parse)];
            // An empty list says that the silos are being restarted: those that were known last are more likely to come back than none.
            if (now.Length > 0 && !now.SequenceEqual(_listed.EndPoints))
                _listed = new Listed(now);
            return null;
        }
        catch (Exception exception) when (exception is not OrleansConfigurationException)
        {
            return exception;
        }
    }

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

    /// <summary>One list, with the addresses that its names had last.</summary>
    private sealed class Listed(EndPoint[] endPoints)
    {
        private readonly IPEndPoint[]?[] _resolved = new IPEndPoint[endPoints.Length][];

        internal EndPoint[] EndPoints => endPoints;

        internal void Set(int index, IPEndPoint[] addresses) => Volatile.Write(ref _resolved[index], addresses);

        internal IEnumerable<EndPoint> At(int index) =>
            endPoints[index] is IPEndPoint known ? [known] : Volatile.Read(ref _resolved[index]) ?? [];
    }
}

/// <summary>The address that a client has in its id. It is dialled by nobody.</summary>
internal static class ClientAddress
{
    internal static IPAddress FromOptions(ClientMessagingOptions options)
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
