using System.Net;
using System.Net.Sockets;

namespace ActOp.Floors;

/// <summary>The other process: accepts one connection and sends back whole frames, as many at once as have come.</summary>
public static class EchoServer
{
    private const int BufferSize = 256 * 1024;

    /// <summary>Prints its port on standard output, echoes until the connection ends.</summary>
    public static void Run(int frameSize)
    {
        using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(1);
        Console.Out.WriteLine(((IPEndPoint)listener.LocalEndPoint!).Port);
        Console.Out.Flush();
        // The parent closes our standard input when it goes away; then nobody will connect any more.
        var watch = new Thread(() =>
        {
            while (Console.In.Read() >= 0)
            {
            }
            Environment.Exit(0);
        })
        { IsBackground = true };
        watch.Start();
        using Socket socket = listener.Accept();
        socket.NoDelay = true;
        Echo(socket, frameSize);
    }

    private static void Echo(Socket socket, int frameSize)
    {
        var buffer = new byte[Math.Max(BufferSize, 2 * frameSize)];
        int held = 0;
        int received;
        while ((received = socket.Receive(buffer, held, buffer.Length - held, SocketFlags.None)) > 0)
        {
            held += received;
            int whole = held - held % frameSize;
            SocketFrames.SendAll(socket, buffer.AsSpan(0, whole));
            buffer.AsSpan(whole, held - whole).CopyTo(buffer);
            held -= whole;
        }
    }
}
