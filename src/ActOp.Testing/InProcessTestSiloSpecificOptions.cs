namespace Orleans.TestingHost;

/// <summary>What differs from silo to silo of an <see cref="InProcessTestCluster"/>.</summary>
public sealed class InProcessTestSiloSpecificOptions
{
    /// <summary>Where clients reach the silo; 0 for nowhere.</summary>
    public int GatewayPort { get; set; }

    /// <summary>The silo's name, like Silo_0.</summary>
    public string SiloName { get; set; } = "";

    /// <summary>Where silos reach it.</summary>
    public int SiloPort { get; set; }

    internal int InstanceNumber { get; init; }

    /// <summary>Name and ports of the silo with this number.</summary>
    /// <param name="testCluster">Its cluster.</param>
    /// <param name="testClusterOptions">The cluster's options.</param>
    /// <param name="instanceNumber">Its number.</param>
    /// <param name="assignNewPort">Whether it gets ports that no silo of the cluster has had.</param>
    public static InProcessTestSiloSpecificOptions Create(InProcessTestCluster testCluster, InProcessTestClusterOptions testClusterOptions, int instanceNumber, bool assignNewPort = false)
    {
        ArgumentNullException.ThrowIfNull(testCluster);
        ArgumentNullException.ThrowIfNull(testClusterOptions);
        var (siloPort, gatewayPort) = testCluster.PortsOf(instanceNumber, assignNewPort);
        return new InProcessTestSiloSpecificOptions
        {
            InstanceNumber = instanceNumber,
            SiloName = "Silo_" + instanceNumber,
            SiloPort = siloPort,
            GatewayPort = testClusterOptions.GatewayPerSilo || instanceNumber == 0 ? gatewayPort : 0,
        };
    }
}
