#pragma warning disable RS0030 // This folder is the transport that the rest reaches sockets through.
using System.Net;
using System.Net.Sockets;

namespace ActOp.Mesh.Transports.Tcp;

/// <summary>
/// Accepts connections until disposed. Accepting is rare, so this one loop uses the framework's asynchronous sockets; an accepted socket never does: it
/// would then wake the framework's poll thread for every byte, beside ours.
/// </summary>
internal sealed class TcpAcceptor : Listener
{
    private static readonly TimeSpan PauseAfterFailure = TimeSpan.FromMilliseconds(100);

    private readonly Socket _socket;
    private readonly CancellationTokenSource _stop = new();

    public TcpAcceptor(Socket socket, Action<Socket> accepted, Action<Exception> failed, TimeProvider time)
    {
        _socket = socket;
        EndPoint = socket.LocalEndPoint!;
        _ = AcceptUntilStopped(accepted, failed, time);
    }

    public override EndPoint EndPoint { get; }

    public override void Dispose()
    {
        _stop.Cancel();
        _socket.Dispose();
    }

    private async Task AcceptUntilStopped(Action<Socket> accepted, Action<Exception> failed, TimeProvider time)
    {
        while (!_stop.IsCancellationRequested)
        {
            Socket? connection = null;
            try
            {
                connection = await _socket.AcceptAsync(_stop.Token).ConfigureAwait(false);
                accepted(connection);
            }
            catch (Exception) when (_stop.IsCancellationRequested)
            {
                connection?.Dispose();
                return;
            }
            catch (Exception exception)
            {
                // Out of descriptors, or a connection gone before it was taken: never a reason to stop accepting, nor to spin.
                connection?.Dispose();
                failed(exception);
                await Task.Delay(PauseAfterFailure, time, CancellationToken.None).ConfigureAwait(false);
            }
        }
    }
}
