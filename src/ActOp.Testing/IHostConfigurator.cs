using Microsoft.Extensions.Hosting;

namespace Orleans.TestingHost;

/// <summary>Configures the host of every silo, or of the client, of a <see cref="TestCluster"/>.</summary>
public interface IHostConfigurator
{
    /// <summary>Called before the host is built.</summary>
    void Configure(IHostBuilder hostBuilder);
}
