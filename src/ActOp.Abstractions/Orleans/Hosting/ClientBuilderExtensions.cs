using System.Net;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;

namespace Orleans.Hosting;

/// <summary>Services, options and clustering of a client.</summary>
public static class ClientBuilderExtensions
{
    /// <summary>Adds services.</summary>
    public static IClientBuilder ConfigureServices(this IClientBuilder builder, Action<IServiceCollection> configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(configureDelegate);
        configureDelegate(builder.Services);
        return builder;
    }

    /// <summary>Traces go with the calls. They always do, while somebody listens: there is nothing to add.</summary>
    public static IClientBuilder AddActivityPropagation(this IClientBuilder builder) => builder;

    /// <summary>Sets options in code.</summary>
    public static IClientBuilder Configure<TOptions>(this IClientBuilder builder, Action<TOptions> configureOptions)
        where TOptions : class =>
        builder.ConfigureServices(services => services.Configure(configureOptions));

    /// <summary>Sets options from configuration.</summary>
    public static IClientBuilder Configure<TOptions>(this IClientBuilder builder, IConfiguration configuration)
        where TOptions : class =>
        builder.ConfigureServices(services => services.AddOptions<TOptions>().Bind(configuration));

    /// <summary>Calls <paramref name="handler"/> when the last connection to the cluster is lost.</summary>
    public static IClientBuilder AddClusterConnectionLostHandler(this IClientBuilder builder, ConnectionToClusterLostHandler handler) =>
        builder.ConfigureServices(services => services.AddSingleton(handler));

    /// <summary>Calls a handler when the last connection to the cluster is lost.</summary>
    public static IClientBuilder AddClusterConnectionLostHandler(
        this IClientBuilder builder, Func<IServiceProvider, ConnectionToClusterLostHandler> handlerFactory) =>
        builder.ConfigureServices(services => services.AddSingleton(handlerFactory));

    /// <summary>Calls <paramref name="handler"/> when the number of connected silos changes.</summary>
    public static IClientBuilder AddGatewayCountChangedHandler(this IClientBuilder builder, GatewayCountChangedHandler handler) =>
        builder.ConfigureServices(services => services.AddSingleton(handler));

    /// <summary>Calls a handler when the number of connected silos changes.</summary>
    public static IClientBuilder AddGatewayCountChangedHandler(
        this IClientBuilder builder, Func<IServiceProvider, GatewayCountChangedHandler> handlerFactory) =>
        builder.ConfigureServices(services => services.AddSingleton(handlerFactory));

    /// <summary>Tells <paramref name="observer"/> of connections won and lost.</summary>
    public static IClientBuilder AddClusterConnectionStatusObserver<TObserver>(this IClientBuilder builder, TObserver observer)
        where TObserver : IClusterConnectionStatusObserver =>
        builder.ConfigureServices(services => services.AddSingleton<IClusterConnectionStatusObserver>(observer));

    /// <summary>Tells an observer, whose class is created with the client's services, of connections won and lost.</summary>
    public static IClientBuilder AddClusterConnectionStatusObserver<TObserver>(this IClientBuilder builder)
        where TObserver : class, IClusterConnectionStatusObserver =>
        builder.ConfigureServices(static services => services.AddSingleton<IClusterConnectionStatusObserver, TObserver>());

    /// <summary>Asks <paramref name="connectionRetryFilter"/> whether to try again when the first connection fails.</summary>
    public static IClientBuilder UseConnectionRetryFilter(
        this IClientBuilder builder, IClientConnectionRetryFilter connectionRetryFilter) =>
        builder.ConfigureServices(services => services.AddSingleton(connectionRetryFilter));

    /// <summary>Asks <paramref name="connectionRetryFilter"/> whether to try again when the first connection fails.</summary>
    public static IClientBuilder UseConnectionRetryFilter(
        this IClientBuilder builder, Func<Exception, CancellationToken, Task<bool>> connectionRetryFilter)
    {
        ArgumentNullException.ThrowIfNull(connectionRetryFilter);
        return builder.UseConnectionRetryFilter(new DelegateRetryFilter(connectionRetryFilter));
    }

    /// <summary>
    /// Asks a filter, whose class is created with the client's services, whether to try again when the first connection fails.
    /// </summary>
    public static IClientBuilder UseConnectionRetryFilter<TConnectionRetryFilter>(this IClientBuilder builder)
        where TConnectionRetryFilter : class, IClientConnectionRetryFilter =>
        builder.ConfigureServices(static services => services.AddSingleton<IClientConnectionRetryFilter, TConnectionRetryFilter>());

    /// <summary>Connects to a silo on this machine.</summary>
    public static IClientBuilder UseLocalhostClustering(
        this IClientBuilder builder, int gatewayPort = EndpointOptions.DEFAULT_GATEWAY_PORT, string serviceId = "dev",
        string clusterId = "dev") =>
        builder.UseLocalhostClustering([gatewayPort], serviceId, clusterId);

    /// <summary>Connects to silos on this machine.</summary>
    public static IClientBuilder UseLocalhostClustering(
        this IClientBuilder builder, int[] gatewayPorts, string serviceId = "dev", string clusterId = "dev")
    {
        ArgumentNullException.ThrowIfNull(gatewayPorts);
        return builder
            .UseStaticClustering([.. gatewayPorts.Select(port => new IPEndPoint(IPAddress.Loopback, port))])
            .Configure<ClusterOptions>(options =>
            {
                options.ServiceId = serviceId;
                options.ClusterId = clusterId;
            });
    }

    /// <summary>Connects to the silos at <paramref name="endpoints"/>.</summary>
    public static IClientBuilder UseStaticClustering(this IClientBuilder builder, params IPEndPoint[] endpoints)
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        return builder.UseStaticClustering((StaticGatewayListProviderOptions options) =>
            options.Gateways = [.. endpoints.Select(endpoint => new Uri("gwy.tcp://" + endpoint + "/0"))]);
    }

    /// <summary>
    /// Connects to the silos at <paramref name="endpoints"/>, each an <see cref="IPEndPoint"/> or a <see cref="DnsEndPoint"/>. Names are
    /// resolved again when all connections are lost.
    /// </summary>
    public static IClientBuilder UseStaticClustering(this IClientBuilder builder, params EndPoint[] endpoints)
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        return builder.UseStaticClustering((StaticGatewayListProviderOptions options) =>
            options.Gateways = [.. endpoints.Select(static endpoint => new Uri("gwy.tcp://"
                + (endpoint is DnsEndPoint name ? name.Host + ":" + name.Port : endpoint.ToString()) + "/0"))]);
    }

    /// <summary>Connects to a fixed list of silos.</summary>
    public static IClientBuilder UseStaticClustering(
        this IClientBuilder builder, Action<StaticGatewayListProviderOptions> configureOptions) =>
        builder.Configure(configureOptions);

    /// <summary>Connects to a fixed list of silos.</summary>
    public static IClientBuilder UseStaticClustering(
        this IClientBuilder builder, Action<OptionsBuilder<StaticGatewayListProviderOptions>> configureOptions)
    {
        ArgumentNullException.ThrowIfNull(configureOptions);
        return builder.ConfigureServices(services => configureOptions(services.AddOptions<StaticGatewayListProviderOptions>()));
    }
}

/// <summary>Adds filters to all calls of a client and to its observers. Filters run in the order in which they are added.</summary>
public static class ClientBuilderGrainCallFilterExtensions
{
    /// <summary>Adds a filter on the side of the client's observers.</summary>
    public static IClientBuilder AddIncomingGrainCallFilter(this IClientBuilder builder, IIncomingGrainCallFilter filter) =>
        builder.ConfigureServices(services => services.AddIncomingGrainCallFilter(filter));

    /// <summary>Adds a filter on the side of the client's observers; its class is created with the client's services.</summary>
    public static IClientBuilder AddIncomingGrainCallFilter<TImplementation>(this IClientBuilder builder)
        where TImplementation : class, IIncomingGrainCallFilter =>
        builder.ConfigureServices(static services => services.AddIncomingGrainCallFilter<TImplementation>());

    /// <summary>Adds a filter on the side of the client's observers.</summary>
    public static IClientBuilder AddIncomingGrainCallFilter(this IClientBuilder builder, IncomingGrainCallFilterDelegate filter) =>
        builder.ConfigureServices(services => services.AddIncomingGrainCallFilter(filter));

    /// <summary>Adds a filter on the caller's side.</summary>
    public static IClientBuilder AddOutgoingGrainCallFilter(this IClientBuilder builder, IOutgoingGrainCallFilter filter) =>
        builder.ConfigureServices(services => services.AddOutgoingGrainCallFilter(filter));

    /// <summary>Adds a filter on the caller's side; its class is created with the client's services.</summary>
    public static IClientBuilder AddOutgoingGrainCallFilter<TImplementation>(this IClientBuilder builder)
        where TImplementation : class, IOutgoingGrainCallFilter =>
        builder.ConfigureServices(static services => services.AddOutgoingGrainCallFilter<TImplementation>());

    /// <summary>Adds a filter on the caller's side.</summary>
    public static IClientBuilder AddOutgoingGrainCallFilter(this IClientBuilder builder, OutgoingGrainCallFilterDelegate filter) =>
        builder.ConfigureServices(services => services.AddOutgoingGrainCallFilter(filter));
}

/// <summary>A retry filter made of a method.</summary>
file sealed class DelegateRetryFilter(Func<Exception, CancellationToken, Task<bool>> filter) : IClientConnectionRetryFilter
{
    public Task<bool> ShouldRetryConnectionAttempt(Exception exception, CancellationToken cancellationToken) =>
        filter(exception, cancellationToken);
}
