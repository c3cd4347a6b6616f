#pragma warning disable RS0030 // This folder is the transport that the rest reaches sockets through.
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace ActOp.Mesh.Transports.Tcp;

/// <summary>
/// A TCP stream on plain recv and send. The descriptor is used raw: the owner of the stream disposes it only while no call is under way
/// (see <see cref="ByteStream"/>).
/// </summary>
internal sealed unsafe class LinuxTcpStream : TcpStream
{
    private volatile int _connectError;

    public LinuxTcpStream(Socket socket, EndPoint? remote)
        : base(socket, remote)
    {
        Descriptor = (int)socket.SafeHandle.DangerousGetHandle();
    }

    internal int Descriptor { get; }

    /// <summary>The place in the readiness set that the stream is in.</summary>
    internal int Slot { get; set; } = -1;

    public override bool TakesReserve => Descriptors.TakesReserve(Descriptor);

    public override void BeginConnect(EndPoint endPoint)
    {
        // The framework's connect would register the socket with its own poll thread.
        var address = endPoint.Serialize();
        fixed (byte* bytes = address.Buffer.Span)
        {
            if (Linux.Connect(Descriptor, bytes, (uint)address.Size) != 0)
            {
                var error = Marshal.GetLastPInvokeError();
                _connectError = error is not (Linux.InProgress or Linux.Interrupted) ? Error(error) : 0;
            }
        }
    }

    public override int Receive(Span<byte> buffer)
    {
        if (_connectError != 0)
            return _connectError;

        fixed (byte* bytes = buffer)
        {
            var read = (int)Linux.Receive(Descriptor, bytes, buffer.Length, 0);
            return read >= 0 ? read : Error(Marshal.GetLastPInvokeError());
        }
    }

    public override int Send(ReadOnlySpan<byte> bytes)
    {
        fixed (byte* start = bytes)
        {
            var sent = (int)Linux.Send(Descriptor, start, bytes.Length, Linux.NoSignal);
            return sent >= 0 ? sent : Error(Marshal.GetLastPInvokeError());
        }
    }

    private static int Error(int error) => error switch
    {
        Linux.Again or Linux.Interrupted => WouldBlock,
        Linux.ConnectionRefused => Refused,
        _ => Failed,
    };
}
