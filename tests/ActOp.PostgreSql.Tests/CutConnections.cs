using System.Net.Sockets;

namespace ActOp.PostgreSql.Tests;

/// <summary>
/// Stands between clients and the server. It can cut the clients off while the server believes that they are there, as a network does.
/// </summary>
internal sealed class CutConnections : IAsyncDisposable
{
    private const string Name = ".s.PGSQL.5432";

    private readonly string _server;
    private readonly Socket _listener = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
    private readonly List<(Socket Client, Socket Server)> _pairs = [];
    private readonly List<Task> _pumps = [];

    public CutConnections(string serverFolder)
    {
        _server = Path.Combine(serverFolder, Name);
        Folder = System.IO.Directory.CreateTempSubdirectory("actop-cut-").FullName;
        _listener.Bind(new UnixDomainSocketEndPoint(Path.Combine(Folder, Name)));
        _listener.Listen();
        _pumps.Add(AcceptAsync());
    }

    /// <summary>The host for connection strings.</summary>
    public string Folder { get; }

    public void Cut()
    {
        lock (_pairs)
        {
            foreach (var (client, _) in _pairs)
                client.Dispose();
        }
    }

    public async ValueTask DisposeAsync()
    {
        _listener.Dispose();
        lock (_pairs)
        {
            foreach (var (client, server) in _pairs)
            {
                client.Dispose();
                server.Dispose();
            }
        }

        await Task.WhenAll(_pumps).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        System.IO.Directory.Delete(Folder, recursive: true);
    }

    private async Task AcceptAsync()
    {
        while (true)
        {
            var client = await _listener.AcceptAsync();
            var server = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
            await server.ConnectAsync(new UnixDomainSocketEndPoint(_server));
            lock (_pairs)
            {
                _pairs.Add((client, server));
                _pumps.Add(PumpAsync(client, server));
                _pumps.Add(PumpAsync(server, client));
            }
        }
    }

    private static async Task PumpAsync(Socket from, Socket to)
    {
        var buffer = new byte[8192];
        while (await from.ReceiveAsync(buffer) is > 0 and var count)
        {
            for (var sent = 0; sent < count;)
                sent += await to.SendAsync(buffer.AsMemory(sent, count - sent));
        }
    }
}
