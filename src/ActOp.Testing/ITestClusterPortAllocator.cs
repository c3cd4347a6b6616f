namespace Orleans.TestingHost;

/// <summary>Finds ports that no other cluster of the process uses.</summary>
public interface ITestClusterPortAllocator : IDisposable
{
    /// <summary>The first silo port and the first gateway port of <paramref name="numPorts"/> free ones each.</summary>
    (int, int) AllocateConsecutivePortPairs(int numPorts);
}
