using System.Globalization;
using System.Net;
using System.Net.Sockets;
using ActOp.Harness.Processes;

namespace ActOp.Floors;

/// <summary>A connection to a process of its own that sends back whole frames; that process ends with it.</summary>
public sealed class EchoConnection : IAsyncDisposable
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);
    private readonly ChildProcess _server;

    private EchoConnection(ChildProcess server, Socket socket) => (_server, Socket) = (server, socket);

    /// <summary>This end: blocking, without delay, with limits of ten seconds.</summary>
    public Socket Socket { get; }

    /// <summary>Starts the other process, which is this library's own program, and connects to it.</summary>
    /// <param name="frameSize">Bytes of one frame.</param>
    public static async Task<EchoConnection> OpenAsync(int frameSize)
    {
        var said = new Transcript();
        string[] command = [.. ChildProcess.CommandOf(typeof(EchoConnection).Assembly.Location), SocketFloor.ServerCommand, "--frame",
            frameSize.ToString(CultureInfo.InvariantCulture)];
        var server = ChildProcess.StartCommand("echo", command, said.Take);
        var socket =
            new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)
            {
                NoDelay = true,
                ReceiveTimeout = 10_000,
                SendTimeout = 10_000
            };
        try
        {
            var port = int.Parse(
                await said.WaitForAsync(static _ => true).WaitAsync(StartLimit).ConfigureAwait(false), CultureInfo.InvariantCulture);
            await socket.ConnectAsync(new IPEndPoint(IPAddress.Loopback, port)).ConfigureAwait(false);
            return new EchoConnection(server, socket);
        }
        catch
        {
            socket.Dispose();
            await server.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        Socket.Dispose();
        await _server.DisposeAsync().ConfigureAwait(false);
    }
}
