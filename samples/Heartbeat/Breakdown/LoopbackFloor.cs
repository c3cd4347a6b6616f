using System.Net;
using System.Net.Sockets;
using Harness.Load;

namespace Heartbeat.Breakdown;

/// <summary>What a round trip over loopback takes without a silo: a bare echo between two threads.</summary>
public static class LoopbackFloor
{
    private const int MessageBytes = 100;
    private const int Rounds = 4000;

    /// <summary>The median in ms.</summary>
    public static double MeasureMs()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var client = new TcpClient();
        client.Connect((IPEndPoint)listener.LocalEndpoint);
        using TcpClient server = listener.AcceptTcpClient();
        client.NoDelay = server.NoDelay = true;
        var echo = new Thread(() => Echo(server.GetStream())) { IsBackground = true, Name = "echo" };
        echo.Start();
        var clock = new MonotonicClock();
        var latency = new LatencyHistogram();
        byte[] message = new byte[MessageBytes];
        NetworkStream stream = client.GetStream();
        for (int i = 0; i < Rounds; i++)
        {
            TimeSpan sent = clock.Now;
            stream.Write(message);
            stream.ReadExactly(message);
            latency.Record(clock.Now - sent);
        }
        client.Client.Shutdown(SocketShutdown.Send);
        echo.Join();
        return latency.Quantile(0.5).TotalMilliseconds;
    }

    private static void Echo(NetworkStream stream)
    {
        byte[] message = new byte[MessageBytes];
        for (int read = stream.Read(message); read > 0; read = stream.Read(message))
            stream.Write(message.AsSpan(0, read));
    }
}
