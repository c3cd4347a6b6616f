using System.Net;
using ActOp.Configuration;
using ActOp.Mesh.Transports.Memory;
using ActOp.Runtime.Cluster;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.TestingHost;

namespace ActOp.Testing;

/// <summary>The network, membership table and log shared by the nodes of one cluster in one process.</summary>
internal sealed class Fabric(string clusterId, string serviceId, ConnectionTransportType transport, bool membership, string? logFile)
{
    private readonly MemoryNetwork _network = new(TimeProvider.System);
    private readonly InMemoryMembershipTable _table = new();
    private int _clients;

    internal LogLines Log { get; } = new(logFile);

    internal void AddSilo(IServiceCollection services, int siloPort, int gatewayPort)
    {
        AddCommon(services, new IPEndPoint(IPAddress.Loopback, siloPort));
        services.Configure<EndpointOptions>(options =>
        {
            options.AdvertisedIPAddress = IPAddress.Loopback;
            options.SiloPort = siloPort;
            options.GatewayPort = gatewayPort;
        });
        AllowManagement(services);
        if (membership)
            services.TryAddSingleton<ClusterTableFactory>(_ => _table);
    }

    /// <summary>Tests look into their cluster and manage it. First of all, so that a test may say otherwise.</summary>
    internal static void AllowManagement(IServiceCollection services) =>
        services.Insert(0, ServiceDescriptor.Singleton<IConfigureOptions<ClientRightsOptions>>(
            new ConfigureOptions<ClientRightsOptions>(static options => options.Management = true)));

    internal void AddClient(IServiceCollection services, IEnumerable<int> gatewayPorts)
    {
        AddCommon(services, new IPEndPoint(IPAddress.Loopback, Interlocked.Increment(ref _clients)));
        services.Configure<StaticGatewayListProviderOptions>(options =>
            options.Gateways = [.. gatewayPorts.Select(port => new Uri("gwy.tcp://127.0.0.1:" + port + "/0"))]);
    }

    private void AddCommon(IServiceCollection services, IPEndPoint local)
    {
        services.Configure<ClusterOptions>(options =>
        {
            options.ClusterId = clusterId;
            options.ServiceId = serviceId;
        });
        services.AddLogging(logging => logging.AddProvider(Log));
        switch (transport)
        {
            case ConnectionTransportType.InMemory:
                services.TryAddSingleton(_network.CreateTransport(local));
                break;
            case ConnectionTransportType.UnixSocket:
                throw new OrleansConfigurationException(
                    "TestClusterOptions.ConnectionTransport: Unix sockets are not available; use InMemory or TcpSocket.");
        }
    }
}
