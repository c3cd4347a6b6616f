using System.Net;
using System.Net.Sockets;

namespace ActOp.Harness.Processes;

/// <summary>Finds free ports on loopback.</summary>
public static class Ports
{
    /// <summary><paramref name="count"/> distinct ports that were free just now.</summary>
    public static int[] FindFree(int count)
    {
        var listeners = new TcpListener[count];
        try
        {
            for (var i = 0; i < count; i++)
            {
                listeners[i] = new TcpListener(IPAddress.Loopback, 0);
                listeners[i].Start();
            }
            return Array.ConvertAll(listeners, listener => ((IPEndPoint)listener.LocalEndpoint).Port);
        }
        finally
        {
            foreach (var listener in listeners)
                listener?.Dispose();
        }
    }
}
