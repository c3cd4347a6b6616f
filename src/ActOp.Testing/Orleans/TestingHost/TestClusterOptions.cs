using System.Globalization;
using System.Net;

namespace Orleans.TestingHost;

/// <summary>Options of a <see cref="TestCluster"/>.</summary>
public class TestClusterOptions
{
    /// <summary>The id of the cluster; a new one per builder.</summary>
    public string ClusterId { get; set; } = "";

    /// <summary>The id of the service; a new one per builder.</summary>
    public string ServiceId { get; set; } = "";

    /// <summary>Port of the first silo; the others follow. 0: chosen by the port allocator.</summary>
    public int BaseSiloPort { get; set; }

    /// <summary>Gateway port of the first silo; the others follow. 0: chosen by the port allocator.</summary>
    public int BaseGatewayPort { get; set; }

    /// <summary>Silos that <see cref="TestCluster.DeployAsync()"/> starts. Default 2.</summary>
    public short InitialSilosCount { get; set; } = 2;

    /// <summary>Whether deploying also connects <see cref="TestCluster.Client"/>. Default true.</summary>
    public bool InitializeClientOnDeploy { get; set; } = true;

    /// <summary>Whether every silo takes clients (default), or the first one only.</summary>
    public bool GatewayPerSilo { get; set; } = true;

    /// <summary>Whether the silos share a membership table in memory (default). Else a configurator must choose the clustering.</summary>
    public bool UseTestClusterMembership { get; set; } = true;

    /// <summary>How the nodes are connected. Default in memory.</summary>
    public ConnectionTransportType ConnectionTransport { get; set; } = ConnectionTransportType.InMemory;

    /// <summary>
    /// Whether silos may be taken to host the same classes. They need not here: each tells the others. For source compatibility only.
    /// </summary>
    public bool AssumeHomogenousSilosForTesting { get; set; } = true;

    /// <summary>
    /// Whether warnings and errors of all nodes are also written to files in <see cref="ApplicationBaseDirectory"/>. Default false.
    /// </summary>
    public bool ConfigureFileLogging { get; set; }

    /// <summary>Silos measure the machine either way; the property is for source compatibility.</summary>
    public bool UseRealEnvironmentStatistics { get; set; }

    /// <summary>Content root of the hosts and folder of log files; null for the current directory.</summary>
    public string? ApplicationBaseDirectory { get; set; }

    /// <summary>
    /// Assembly-qualified names of <see cref="ISiloConfigurator"/> and <see cref="IHostConfigurator"/> types for silos, in order.
    /// </summary>
    public List<string?> SiloBuilderConfiguratorTypes { get; } = [];

    /// <summary>
    /// Assembly-qualified names of <see cref="IClientBuilderConfigurator"/> and <see cref="IHostConfigurator"/> types for the client, in
    /// order.
    /// </summary>
    public List<string?> ClientBuilderConfiguratorTypes { get; } = [];

    /// <summary>The options as configuration keys, which silos find in their configuration.</summary>
    public Dictionary<string, string?> ToDictionary()
    {
        var result = new Dictionary<string, string?>
        {
            [nameof(ClusterId)] = ClusterId,
            [nameof(ServiceId)] = ServiceId,
            [nameof(BaseSiloPort)] = BaseSiloPort.ToString(),
            [nameof(BaseGatewayPort)] = BaseGatewayPort.ToString(),
            [nameof(InitialSilosCount)] = InitialSilosCount.ToString(),
            [nameof(InitializeClientOnDeploy)] = InitializeClientOnDeploy.ToString(),
            [nameof(GatewayPerSilo)] = GatewayPerSilo.ToString(),
            [nameof(UseTestClusterMembership)] = UseTestClusterMembership.ToString(),
            [nameof(ConnectionTransport)] = ConnectionTransport.ToString(),
            [nameof(AssumeHomogenousSilosForTesting)] = AssumeHomogenousSilosForTesting.ToString(),
            [nameof(ConfigureFileLogging)] = ConfigureFileLogging.ToString(),
            [nameof(UseRealEnvironmentStatistics)] = UseRealEnvironmentStatistics.ToString(),
            [nameof(ApplicationBaseDirectory)] = ApplicationBaseDirectory,
        };
        for (var index = 0; index < SiloBuilderConfiguratorTypes.Count; index++)
            result[nameof(SiloBuilderConfiguratorTypes) + ":" + index] = SiloBuilderConfiguratorTypes[index];
        for (var index = 0; index < ClientBuilderConfiguratorTypes.Count; index++)
            result[nameof(ClientBuilderConfiguratorTypes) + ":" + index] = ClientBuilderConfiguratorTypes[index];
        return result;
    }
}

/// <summary>What one silo of a <see cref="TestCluster"/> is configured with beside the options of the cluster.</summary>
public class TestSiloSpecificOptions
{
    /// <summary>Where silos reach it.</summary>
    public int SiloPort { get; set; }

    /// <summary>Where clients reach it; 0 for nowhere.</summary>
    public int GatewayPort { get; set; }

    /// <summary>Its name: Primary, or Secondary_ and its number.</summary>
    public string SiloName { get; set; } = "";

    /// <summary>Where the first silo is, which keeps the membership of a test cluster over TCP; null for this one.</summary>
    public IPEndPoint? PrimarySiloEndPoint { get; set; }

    /// <summary>Name and ports of the silo with this number.</summary>
    /// <param name="testCluster">Its cluster.</param>
    /// <param name="testClusterOptions">The cluster's options.</param>
    /// <param name="instanceNumber">Its number.</param>
    /// <param name="assignNewPort">Whether it gets ports that no silo of the cluster has had.</param>
    public static TestSiloSpecificOptions Create(
        TestCluster testCluster, TestClusterOptions testClusterOptions, int instanceNumber, bool assignNewPort = false)
    {
        ArgumentNullException.ThrowIfNull(testCluster);
        ArgumentNullException.ThrowIfNull(testClusterOptions);
        var (siloPort, gatewayPort) = assignNewPort
            ? testCluster.PortAllocator.AllocateConsecutivePortPairs(1)
            : (testClusterOptions.BaseSiloPort + instanceNumber, testClusterOptions.BaseGatewayPort + instanceNumber);
        return new TestSiloSpecificOptions
        {
            SiloName = instanceNumber == 0 ? "Primary" : "Secondary_" + instanceNumber,
            SiloPort = siloPort,
            GatewayPort = testClusterOptions.GatewayPerSilo || instanceNumber == 0 ? gatewayPort : 0,
            PrimarySiloEndPoint = testClusterOptions.UseTestClusterMembership
                ? new IPEndPoint(IPAddress.Loopback, testClusterOptions.BaseSiloPort) : null,
        };
    }

    /// <summary>The options as configuration keys.</summary>
    public Dictionary<string, string?> ToDictionary() => new()
    {
        [nameof(SiloName)] = SiloName,
        [nameof(SiloPort)] = SiloPort.ToString(CultureInfo.InvariantCulture),
        [nameof(GatewayPort)] = GatewayPort.ToString(CultureInfo.InvariantCulture),
        [nameof(PrimarySiloEndPoint)] = PrimarySiloEndPoint?.ToString(),
    };
}

/// <summary>How the silos and the client of a <see cref="TestCluster"/> are connected.</summary>
public enum ConnectionTransportType
{
    /// <summary>TCP over loopback.</summary>
    TcpSocket = 0,

    /// <summary>A network in memory: no ports of the machine, no sockets.</summary>
    InMemory = 1,

    /// <summary>Not available: a cluster with it fails to deploy.</summary>
    UnixSocket = 2,
}
