#pragma warning disable RS0030 // This folder is the transport that the rest reaches sockets through.
using System.Net;
using System.Net.Sockets;

namespace ActOp.Mesh.Transports.Tcp;

/// <summary>
/// Accepts connections until disposed. Accepting is rare, so this one place uses the framework's asynchronous sockets; an accepted socket
/// never does: it would then wake the framework's poll thread for every byte, beside ours.
/// <para>Owns the listening socket, its event arguments and the timer of the pause, all made at the start: what is made when descriptors
/// have run out may fail itself (a library that is loaded then fails to load). One thread at a time accepts: the constructor's, the
/// event's, or the timer's. After any failure the timer continues.</para>
/// <para>Connections are accepted faster than evicted ones are closed. So after a connection that took a descriptor of the reserve, it
/// waits while descriptors are scarce.</para>
/// </summary>
internal sealed class TcpAcceptor : Listener
{
    private static readonly TimeSpan PauseAfterFailure = TimeSpan.FromMilliseconds(100);

    /// <summary>The time of closing a few connections.</summary>
    private static readonly TimeSpan PauseWhileScarce = TimeSpan.FromMilliseconds(10);

    private readonly Socket _socket;
    private readonly Func<Socket, ByteStream> _wrap;
    private readonly Action<ByteStream> _accepted;
    private readonly Action<Exception> _failed;
    private readonly Func<bool> _areDescriptorsScarce;
    private readonly SocketAsyncEventArgs _next = new();
    private readonly ITimer _retry;
    private bool _tookReserve;
    private volatile bool _stopped;

    public TcpAcceptor(
        Socket socket,
        Func<Socket, ByteStream> wrap,
        Action<ByteStream> accepted,
        Action<Exception> failed,
        Func<bool> areDescriptorsScarce,
        TimeProvider time)
    {
        _socket = socket;
        _wrap = wrap;
        _accepted = accepted;
        _failed = failed;
        _areDescriptorsScarce = areDescriptorsScarce;
        EndPoint = socket.LocalEndPoint!;
        _retry = time.CreateTimer(_ => AcceptAll(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _next.Completed += (_, _) =>
        {
            if (TryTake())
                AcceptAll();
        };
        AcceptAll();
    }

    public override EndPoint EndPoint { get; }

    public override void Dispose()
    {
        _stopped = true;
        _retry.Dispose();
        _socket.Dispose();
        _next.Dispose();
    }

    private void AcceptAll()
    {
        while (!_stopped)
        {
            try
            {
                if (_tookReserve && _areDescriptorsScarce())
                {
                    _retry.Change(PauseWhileScarce, Timeout.InfiniteTimeSpan);
                    return;
                }

                _tookReserve = false;
                _next.AcceptSocket = null;
                if (_socket.AcceptAsync(_next))
                    return;
            }
            catch (Exception exception)
            {
                Pause(exception);
                return;
            }

            if (!TryTake())
                return;
        }
    }

    /// <summary>Hands on what was accepted; false when nothing was and accepting pauses.</summary>
    private bool TryTake()
    {
        try
        {
            if (_next.SocketError != SocketError.Success)
            {
                // Out of descriptors, or a connection gone before it was taken: never a reason to stop accepting, nor to spin.
                throw new SocketException((int)_next.SocketError);
            }

            TakeOver(_next.AcceptSocket!);
            return true;
        }
        catch (Exception exception)
        {
            Pause(exception);
            return false;
        }
    }

    private void TakeOver(Socket connection)
    {
        ByteStream stream;
        try
        {
            stream = _wrap(connection);
        }
        catch (SocketException)
        {
            // The connection is closed already.
            connection.Dispose();
            return;
        }

        _tookReserve = stream.TakesReserve;
        _accepted(stream);
    }

    private void Pause(Exception exception)
    {
        if (_stopped)
            return;

        _retry.Change(PauseAfterFailure, Timeout.InfiniteTimeSpan);
        try
        {
            _failed(exception);
        }
        catch (Exception telling)
        {
            // Ignored: the log itself can fail without free descriptors. Accepting continues.
            _ = telling;
        }
    }
}
