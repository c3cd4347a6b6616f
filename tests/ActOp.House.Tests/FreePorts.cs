using System.Net;
using System.Net.Sockets;

namespace ActOp.House.Tests;

/// <summary>Ports that nobody listens on.</summary>
internal static class FreePorts
{
    /// <summary>Two different ones, as text.</summary>
    public static string[] Pair()
    {
        using TcpListener first = new(IPAddress.Loopback, 0);
        using TcpListener second = new(IPAddress.Loopback, 0);
        first.Start();
        second.Start();
        return [Port(first), Port(second)];
    }

    private static string Port(TcpListener listener) => ((IPEndPoint)listener.LocalEndpoint).Port.ToString(System.Globalization.CultureInfo.InvariantCulture);
}
