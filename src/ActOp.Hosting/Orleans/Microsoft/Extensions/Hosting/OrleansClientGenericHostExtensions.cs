using ActOp.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Hosting;

namespace Microsoft.Extensions.Hosting;

/// <summary>Adds a client of a cluster to a host.</summary>
public static class OrleansClientGenericHostExtensions
{
    private static readonly Action<IClientBuilder> Nothing = static _ => { };

    /// <summary>Adds a client to the services of a host.</summary>
    public static IServiceCollection AddOrleansClient(this IServiceCollection services, Action<IClientBuilder> configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(configureDelegate);
        return Add(services, new ConfigurationBuilder().Build(), configureDelegate);
    }

    /// <summary>Adds a client to the services of a host, with the configuration that has the section Orleans.</summary>
    public static IServiceCollection AddOrleansClient(this IServiceCollection services, IConfiguration? configuration,
        Action<IClientBuilder> configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(configureDelegate);
        return Add(services, configuration ?? new ConfigurationBuilder().Build(), configureDelegate);
    }

    /// <summary>Configures the host as a client of a cluster.</summary>
    public static HostApplicationBuilder UseOrleansClient(this HostApplicationBuilder hostAppBuilder) =>
        hostAppBuilder.UseOrleansClient(Nothing);

    /// <summary>Configures the host as a client of a cluster.</summary>
    public static HostApplicationBuilder UseOrleansClient(this HostApplicationBuilder hostAppBuilder,
        Action<IClientBuilder> configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(hostAppBuilder);
        ArgumentNullException.ThrowIfNull(configureDelegate);
        Add(hostAppBuilder.Services, hostAppBuilder.Configuration, configureDelegate);
        return hostAppBuilder;
    }

    /// <summary>Configures the host as a client of a cluster.</summary>
    public static IHostApplicationBuilder UseOrleansClient(this IHostApplicationBuilder hostAppBuilder) =>
        hostAppBuilder.UseOrleansClient(Nothing);

    /// <summary>Configures the host as a client of a cluster.</summary>
    public static IHostApplicationBuilder UseOrleansClient(this IHostApplicationBuilder hostAppBuilder,
        Action<IClientBuilder> configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(hostAppBuilder);
        ArgumentNullException.ThrowIfNull(configureDelegate);
        Add(hostAppBuilder.Services, hostAppBuilder.Configuration, configureDelegate);
        return hostAppBuilder;
    }

    /// <summary>Configures the host as a client of a cluster by the section Orleans.</summary>
    public static IHostBuilder UseOrleansClient(this IHostBuilder hostBuilder) => hostBuilder.UseOrleansClient((_, _) => { });

    /// <summary>Configures the host as a client of a cluster.</summary>
    public static IHostBuilder UseOrleansClient(this IHostBuilder hostBuilder, Action<IClientBuilder> configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(configureDelegate);
        return hostBuilder.UseOrleansClient((_, builder) => configureDelegate(builder));
    }

    /// <summary>Configures the host as a client of a cluster.</summary>
    public static IHostBuilder UseOrleansClient(this IHostBuilder hostBuilder, Action<HostBuilderContext, IClientBuilder> configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(hostBuilder);
        ArgumentNullException.ThrowIfNull(configureDelegate);
        NodeRegistrations.Claim(hostBuilder, isSilo: false);
        return hostBuilder.ConfigureServices((context, services) =>
            Add(services, context.Configuration, builder => configureDelegate(context, builder)));
    }

    private static IServiceCollection Add(IServiceCollection services, IConfiguration configuration, Action<IClientBuilder> configure)
    {
        NodeRegistrations.AddClient(services, configuration);
        configure(new PlainClientBuilder(services, configuration));
        NodeRegistrations.Complete(services);
        return services;
    }
}
