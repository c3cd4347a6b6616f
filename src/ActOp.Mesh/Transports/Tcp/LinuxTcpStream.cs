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
    /// <summary>
    /// One in eight descriptors, at most 64, is reserved for uses other than new connections: files, dials, and further links of accepted
    /// peers.
    /// </summary>
    private static readonly int FirstReserved = ReadFirstReserved();

    private volatile int _connectError;

    public LinuxTcpStream(Socket socket, EndPoint? remote)
        : base(socket, remote)
    {
        Descriptor = (int)socket.SafeHandle.DangerousGetHandle();
    }

    internal int Descriptor { get; }

    /// <summary>The place in the readiness set that the stream is in.</summary>
    internal int Slot { get; set; } = -1;

    // The system gives the lowest free number: a high number means that few are left.
    public override bool TakesReserve => Descriptor >= FirstReserved;

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
        {
            return _connectError;
        }

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

    private static int ReadFirstReserved()
    {
        var limits = stackalloc ulong[2];
        var all = Linux.GetLimit(Linux.DescriptorLimit, limits) == 0 ? (int)Math.Min(limits[0], int.MaxValue) : int.MaxValue;
        return all - Math.Min(64, all / 8);
    }
}
