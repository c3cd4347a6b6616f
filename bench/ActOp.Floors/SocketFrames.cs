using System.Net.Sockets;

namespace ActOp.Floors;

/// <summary>Blocking sends of whole buffers.</summary>
public static class SocketFrames
{
    /// <summary>Sends every byte.</summary>
    public static void SendAll(Socket socket, ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0)
            bytes = bytes[socket.Send(bytes)..];
    }
}
