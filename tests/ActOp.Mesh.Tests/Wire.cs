namespace ActOp.Mesh.Tests;

/// <summary>The transports that every behaviour is tested over.</summary>
public enum Wire
{
    Memory,
    Tcp,
    PortableTcp,

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

        public bool IsMemory => wire is Wire.Memory or Wire.TlsMemory;

        public bool IsPortable => wire is Wire.PortableTcp or Wire.TlsPortableTcp;
    }
}
