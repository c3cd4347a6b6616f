using ActOp.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Hosting;

namespace Microsoft.Extensions.Hosting;

/// <summary>Adds a silo to a host.</summary>
public static class OrleansSiloGenericHostExtensions
{
    private static readonly Action<ISiloBuilder> Nothing = static _ => { };

    /// <summary>Adds a silo to the services of a host.</summary>
    public static IServiceCollection AddOrleans(this IServiceCollection services, Action<ISiloBuilder> configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(configureDelegate);
        return Add(services, new ConfigurationBuilder().Build(), configureDelegate);
    }

    /// <summary>Configures the host as a silo.</summary>
    public static HostApplicationBuilder UseOrleans(this HostApplicationBuilder hostAppBuilder) => hostAppBuilder.UseOrleans(Nothing);

    /// <summary>Configures the host as a silo.</summary>
    public static HostApplicationBuilder UseOrleans(this HostApplicationBuilder hostAppBuilder, Action<ISiloBuilder> configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(hostAppBuilder);
        ArgumentNullException.ThrowIfNull(configureDelegate);
        Add(hostAppBuilder.Services, hostAppBuilder.Configuration, configureDelegate);
        return hostAppBuilder;
    }

    /// <summary>Configures the host as a silo.</summary>
    public static IHostApplicationBuilder UseOrleans(this IHostApplicationBuilder hostAppBuilder) => hostAppBuilder.UseOrleans(Nothing);

    /// <summary>Configures the host as a silo.</summary>
    public static IHostApplicationBuilder UseOrleans(this IHostApplicationBuilder hostAppBuilder, Action<ISiloBuilder> configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(hostAppBuilder);
        ArgumentNullException.ThrowIfNull(configureDelegate);
        Add(hostAppBuilder.Services, hostAppBuilder.Configuration, configureDelegate);
        return hostAppBuilder;
    }

    /// <summary>Configures the host as a silo.</summary>
    public static IHostBuilder UseOrleans(this IHostBuilder hostBuilder, Action<ISiloBuilder> configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(configureDelegate);
        return hostBuilder.UseOrleans((_, builder) => configureDelegate(builder));
    }

    /// <summary>Configures the host as a silo.</summary>
    public static IHostBuilder UseOrleans(this IHostBuilder hostBuilder, Action<HostBuilderContext, ISiloBuilder> configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(hostBuilder);
        ArgumentNullException.ThrowIfNull(configureDelegate);
        NodeRegistrations.Claim(hostBuilder, isSilo: true);
        return hostBuilder.ConfigureServices((context, services) =>
            Add(services, context.Configuration, builder => configureDelegate(context, builder)));
    }

    private static IServiceCollection Add(IServiceCollection services, IConfiguration configuration, Action<ISiloBuilder> configure)
    {
        NodeRegistrations.AddSilo(services, configuration);
        configure(new SiloBuilder(services, configuration));
        NodeRegistrations.Complete(services);
        return services;
    }
}
