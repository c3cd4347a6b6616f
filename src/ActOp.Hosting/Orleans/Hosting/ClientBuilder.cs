using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Orleans.Hosting;

/// <summary>Adds a client to services, for hosts that are built without <c>UseOrleansClient</c>.</summary>
public class ClientBuilder : IClientBuilder
{
    /// <summary>Adds the client.</summary>
    /// <param name="services">Get the client, which starts with the hosted services.</param>
    /// <param name="configuration">Has the section Orleans.</param>
    public ClientBuilder(IServiceCollection services, IConfiguration configuration)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(configuration);
        Services = services;
        Configuration = configuration;
        ActOp.Hosting.NodeRegistrations.AddClient(services, configuration);
    }

    /// <inheritdoc/>
    public IConfiguration Configuration { get; }

    /// <inheritdoc/>
    public IServiceCollection Services { get; }
}
