using Microsoft.Extensions.Hosting;

namespace Orleans.TestingHost;

/// <summary>What an <see cref="InProcessTestCluster"/> is like.</summary>
public sealed class InProcessTestClusterOptions
{
    /// <summary>The id of the cluster; a new one per builder.</summary>
    public string ClusterId { get; set; } = "";

    /// <summary>The id of the service; a new one per builder.</summary>
    public string ServiceId { get; set; } = "";

    /// <summary>Silos that <see cref="InProcessTestCluster.DeployAsync"/> starts. Default 2.</summary>
    public short InitialSilosCount { get; set; } = 2;

    /// <summary>Whether deploying also connects <see cref="InProcessTestCluster.Client"/>. Default true.</summary>
    public bool InitializeClientOnDeploy { get; set; } = true;

    /// <summary>Whether every silo takes clients (default), or the first one only.</summary>
    public bool GatewayPerSilo { get; set; } = true;

    /// <summary>
    /// The silos are of one kind and their grain classes known at once. Always so here; the property is for source compatibility.
    /// </summary>
    public bool AssumeHomogenousSilosForTesting { get; set; } = true;

    /// <summary>Whether warnings and errors of all nodes are also written to a file in the current directory. Default false.</summary>
    public bool ConfigureFileLogging { get; set; }

    /// <summary>The directory is always distributed here; the property is for source compatibility.</summary>
    public bool UseDistributedGrainDirectory { get; set; } = true;

    /// <summary>Silos measure the machine either way; the property is for source compatibility.</summary>
    public bool UseRealEnvironmentStatistics { get; set; }

    /// <summary>Called for the client's host.</summary>
    public List<Action<IHostApplicationBuilder>> ClientHostConfigurationDelegates { get; } = [];

    /// <summary>Called for every silo's host.</summary>
    public List<Action<InProcessTestSiloSpecificOptions, IHostApplicationBuilder>> SiloHostConfigurationDelegates { get; } = [];
}
