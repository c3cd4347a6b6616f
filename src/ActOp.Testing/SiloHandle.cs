using Orleans.Runtime;

namespace Orleans.TestingHost;

/// <summary>One silo of a test cluster.</summary>
public abstract class SiloHandle : IDisposable, IAsyncDisposable
{
    /// <summary>Disposes a handle that nobody has.</summary>
    ~SiloHandle() => Dispose(false);

    /// <summary>The cluster's options; null for silos of an <see cref="InProcessTestCluster"/>.</summary>
    public TestClusterOptions? ClusterOptions { get; set; }

    /// <summary>The silo's name, like Primary or Secondary_1.</summary>
    public string Name { get; set; } = "";

    /// <summary>0 for the first silo of the cluster, and so on.</summary>
    public short InstanceNumber { get; set; }

    /// <summary>The silo's address.</summary>
    public SiloAddress SiloAddress { get; set; } = null!;

    /// <summary>Where clients reach the silo.</summary>
    public SiloAddress GatewayAddress { get; set; } = null!;

    /// <summary>True from the start to the stop.</summary>
    public abstract bool IsActive { get; }

    /// <summary>Stops the silo: in order, or as a crash would.</summary>
    public abstract Task StopSiloAsync(bool stopGracefully);

    /// <summary>Stops the silo in order; when <paramref name="ct"/> is signalled, at once.</summary>
    public abstract Task StopSiloAsync(CancellationToken ct);

    /// <summary>Stops the silo unless it has stopped.</summary>
    public abstract ValueTask DisposeAsync();

    /// <summary>Ends the silo at once unless it has stopped.</summary>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Ends the silo at once unless it has stopped.</summary>
    protected virtual void Dispose(bool disposing)
    {
    }
}
