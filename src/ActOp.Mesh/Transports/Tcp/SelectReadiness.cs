#pragma warning disable RS0030 // This folder is the transport that the rest reaches sockets through.
using System.Net;
using System.Net.Sockets;

namespace ActOp.Mesh.Transports.Tcp;

/// <summary>
/// Select, for operating systems without epoll. A report per wait and stream as long as it is readable; room only for streams whose last
/// send found none. A loopback datagram socket wakes it.
/// <para>Threads: the set is guarded by its gate; the lists belong to the waiting thread.</para>
/// </summary>
internal sealed class SelectReadiness : Readiness
{
    // A full send buffer that appears during a wait is not among the sockets asked about: look again soon.
    private const int LongestWaitMs = 10;

    private readonly Lock _gate = new();
    private readonly Dictionary<Socket, PortableTcpStream> _streams = [];
    private readonly Socket _wake = new(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
    private readonly List<Socket> _readable = [];
    private readonly List<Socket> _writable = [];
    private readonly List<Socket> _broken = [];
    private bool _disposed;

    public SelectReadiness()
    {
        _wake.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _wake.Connect(_wake.LocalEndPoint!);
        _wake.Blocking = false;
    }

    public override void Add(ByteStream stream)
    {
        var tcp = (PortableTcpStream)stream;
        lock (_gate)
            _streams.Add(tcp.Socket, tcp);

        Wake();
    }

    public override void Remove(ByteStream stream)
    {
        lock (_gate)
            _streams.Remove(((PortableTcpStream)stream).Socket);

        Wake();
    }

    public override int Wait(Span<Ready> reports, int timeoutMs)
    {
        Collect();
        try
        {
            var wait = timeoutMs < 0 ? LongestWaitMs : Math.Min(timeoutMs, LongestWaitMs);
            Socket.Select(_readable, _writable, _broken, TimeSpan.FromMilliseconds(wait));
        }
        catch (Exception exception) when (exception is ObjectDisposedException or SocketException)
        {
            // A stream was removed and closed by another thread during the wait.
            return 0;
        }

        if (_readable.Remove(_wake))
        {
            Span<byte> bytes = stackalloc byte[64];
            while (_wake.Receive(bytes, SocketFlags.None, out _) > 0)
            {
            }
        }

        var found = 0;
        lock (_gate)
        {
            Report(_readable, ReadyKinds.Read, reports, ref found);
            Report(_writable, ReadyKinds.Write, reports, ref found);
            Report(_broken, ReadyKinds.Hangup, reports, ref found);
        }

        return found;
    }

    public override void Wake()
    {
        lock (_gate)
        {
            if (!_disposed)
                _wake.Send([1], SocketFlags.None, out _);
        }
    }

    public override void Dispose()
    {
        lock (_gate)
        {
            _disposed = true;
            _wake.Dispose();
        }
    }

    private void Collect()
    {
        _readable.Clear();
        _writable.Clear();
        _broken.Clear();
        _readable.Add(_wake);
        lock (_gate)
        {
            foreach (var (socket, stream) in _streams)
            {
                _readable.Add(socket);
                _broken.Add(socket);
                if (stream.WantsRoom)
                    _writable.Add(socket);
            }
        }
    }

    private void Report(List<Socket> sockets, ReadyKinds kind, Span<Ready> reports, ref int found)
    {
        Invariant.Held(_gate);
        foreach (var socket in sockets)
        {
            if (found < reports.Length && _streams.TryGetValue(socket, out var stream))
                reports[found++] = new Ready(stream, kind);
        }
    }
}
