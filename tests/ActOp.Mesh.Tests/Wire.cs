namespace ActOp.Mesh.Tests;

/// <summary>The transports that every behaviour is tested over.</summary>
public enum Wire
{
    Memory,
    Tcp,
    PortableTcp,

    /// <summary>Memory with middleware at both ends that puts a transport of its own over the connection; all on the polling thread.</summary>
    PipedMemory,

    /// <summary>TCP with the same middleware on the thread pool.</summary>
    PipedTcp,

    /// <summary>TLS over memory, every step on the polling thread.</summary>
    TlsMemory,

    /// <summary>TLS over TCP, the handshakes on other threads.</summary>
    TlsTcp,

    /// <summary>TLS over portable TCP, every step on the polling thread.</summary>
    TlsPortableTcp,
}

public static class Wires
{
    public static TheoryData<Wire> All => [.. Enum.GetValues<Wire>()];

    extension(Wire wire)
    {
        public bool IsTls => wire >= Wire.TlsMemory;

        public bool IsMemory => wire is Wire.Memory or Wire.TlsMemory or Wire.PipedMemory;

        public bool IsPiped => wire is Wire.PipedMemory or Wire.PipedTcp;

        public bool IsPortable => wire is Wire.PortableTcp or Wire.TlsPortableTcp;
    }
}
