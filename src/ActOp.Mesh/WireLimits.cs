using System.Text;

namespace ActOp.Mesh;

/// <summary>The fixed sizes of the wire format.</summary>
internal static class WireLimits
{
    /// <summary>Each frame is preceded by its body's length, 4 bytes, little-endian.</summary>
    public const int PrefixBytes = 4;

    /// <summary>
    /// Stands for a length and says "I am here": no frame. Only sent to nodes that say in their handshake that they know it.
    /// </summary>
    public const uint KeepAliveMark = 0xFFFF_FFFE;

    /// <summary>
    /// The longest handshake body. Three names (512 + 512 + 1024) and the fixed fields take less than 2.2 KiB; ASCII text such as an
    /// HTTP request read as a length is at least 0x20202020, far above, so that a stray client is found out by its first four bytes.
    /// </summary>
    public const int HandshakeBytes = 4096;

    public const int LinksPerPeer = 64;

    public const int Pollers = 64;

    public static bool IsName(string? text, int maxBytes)
        => !string.IsNullOrEmpty(text) && Encoding.UTF8.GetByteCount(text) <= maxBytes;
}
