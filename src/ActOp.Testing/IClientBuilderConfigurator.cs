using Microsoft.Extensions.Configuration;
using Orleans.Hosting;

namespace Orleans.TestingHost;

/// <summary>Configures the client of a <see cref="TestCluster"/>; made by its parameterless constructor.</summary>
public interface IClientBuilderConfigurator
{
    /// <summary>Called before the client connects.</summary>
    /// <param name="configuration">The cluster's configuration, with <see cref="TestClusterBuilder.Properties"/>.</param>
    /// <param name="clientBuilder">The client.</param>
    void Configure(IConfiguration configuration, IClientBuilder clientBuilder);
}
