using System.Net.Sockets;

namespace ActOp.PostgreSql.Tests;

/// <summary>
/// Stands between clients and the server, and counts what passes in either direction. At a step that the test chooses it cuts the client
/// off: before the step reaches its receiver, or after. So a request never arrives, or its answer is lost after it was done.
/// </summary>
internal sealed class CutAtStep : IAsyncDisposable
{
    private const string Name = ".s.PGSQL.5432";

    private readonly string _server;
    private readonly Socket _listener = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
    private readonly List<Socket> _sockets = [];
    private readonly List<Socket> _halfOpen = [];
    private readonly List<Task> _pumps = [];
    private readonly Lock _gate = new();
    private int _step;
    private int _cutsAt;
    private bool _passes;

    public CutAtStep(string serverFolder)
    {
        _server = Path.Combine(serverFolder, Name);
        Folder = System.IO.Directory.CreateTempSubdirectory("actop-step-").FullName;
        _listener.Bind(new UnixDomainSocketEndPoint(Path.Combine(Folder, Name)));
        _listener.Listen();
        _pumps.Add(AcceptAsync());
    }

    /// <summary>The host for connection strings.</summary>
    public string Folder { get; }

    /// <summary>Called when the client is cut off.</summary>
    public Action OnCut { get; set; } = static () => { };

    /// <summary>From now on, the step with this number is the last one of its connection.</summary>
    /// <param name="step">Counted from 1.</param>
    /// <param name="passes">Whether it still reaches its receiver.</param>
    public void Arm(int step, bool passes)
    {
        lock (_gate)
            (_step, _cutsAt, _passes) = (0, step, passes);
    }

    /// <summary>No further cut. Says whether there was one. The server learns of it only now.</summary>
    public bool Disarm()
    {
        lock (_gate)
        {
            var wasCut = _step >= _cutsAt;
            _cutsAt = int.MaxValue;
            foreach (var server in _halfOpen)
                server.Dispose();
            _halfOpen.Clear();
            return wasCut;
        }
    }

    public async ValueTask DisposeAsync()
    {
        _listener.Dispose();
        lock (_gate)
        {
            foreach (var socket in _sockets)
                socket.Dispose();
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
            lock (_gate)
            {
                _sockets.AddRange([client, server]);
                _pumps.Add(PumpAsync(client, server, client, server));
                _pumps.Add(PumpAsync(server, client, client, server));
            }
        }
    }

    private async Task PumpAsync(Socket from, Socket to, Socket client, Socket server)
    {
        var buffer = new byte[8192];
        try
        {
            while (await from.ReceiveAsync(buffer) is > 0 and var count)
            {
                var isLast = IsLast();
                if (!isLast || _passes)
                {
                    for (var sent = 0; sent < count;)
                        sent += await to.SendAsync(buffer.AsMemory(sent, count - sent));
                }

                if (isLast)
                    Cut(client, server);
            }
        }
        finally
        {
            // Each end learns that the other has closed, unless it was cut off.
            lock (_gate)
            {
                if (!_halfOpen.Contains(server))
                    server.Dispose();
            }

            client.Dispose();
        }
    }

    private bool IsLast()
    {
        lock (_gate)
            return _cutsAt != int.MaxValue && ++_step == _cutsAt;
    }

    private void Cut(Socket client, Socket server)
    {
        lock (_gate)
            _halfOpen.Add(server);
        OnCut();
        client.Dispose();
    }
}
