using Orleans.Hosting;

namespace Orleans.TestingHost;

/// <summary>Configures every silo of a <see cref="TestCluster"/>; made once per silo by its parameterless constructor.</summary>
public interface ISiloConfigurator
{
    /// <summary>Called before the silo starts.</summary>
    void Configure(ISiloBuilder siloBuilder);
}
