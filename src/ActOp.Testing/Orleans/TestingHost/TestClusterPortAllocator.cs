using System.Net.NetworkInformation;

namespace Orleans.TestingHost;

/// <summary>Finds ports that no other cluster of the process uses.</summary>
public interface ITestClusterPortAllocator : IDisposable
{
    /// <summary>The first silo port and the first gateway port of <paramref name="numPorts"/> free ones each.</summary>
    (int, int) AllocateConsecutivePortPairs(int numPorts);
}

/// <summary>Allocates free ports, each only once per process. Any thread.</summary>
public sealed class TestClusterPortAllocator : ITestClusterPortAllocator
{
    private const int FirstPort = 22_300;
    private const int LastPort = 30_000;

    private static readonly Lock Gate = new();
    private static int s_next = FirstPort + (Environment.ProcessId % 200 * 32);

    /// <inheritdoc/>
    /// <exception cref="InvalidOperationException">There are not as many free ports in a row.</exception>
    public (int, int) AllocateConsecutivePortPairs(int numPorts = 5)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(numPorts, 1);
        var used = IPGlobalProperties.GetIPGlobalProperties().GetActiveTcpListeners().Select(endPoint => endPoint.Port).ToHashSet();
        lock (Gate)
            return (TakePorts(numPorts, used), TakePorts(numPorts, used));
    }

    /// <summary>Does nothing: ports are not handed out again, so that late messages of an old cluster reach no other cluster.</summary>
    public void Dispose()
    {
    }

    private static int TakePorts(int count, HashSet<int> used)
    {
        for (var tries = 0; tries < LastPort - FirstPort; tries++)
        {
            if (s_next + count > LastPort)
                s_next = FirstPort;
            var first = s_next;
            s_next += count;
            if (!Enumerable.Range(first, count).Any(used.Contains))
                return first;
        }

        throw new InvalidOperationException("No " + count + " free ports in a row between " + FirstPort + " and " + LastPort + ".");
    }
}
