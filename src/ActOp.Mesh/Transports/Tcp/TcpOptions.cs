namespace ActOp.Mesh.Transports.Tcp;

/// <summary>Settings of the sockets.</summary>
public sealed class TcpOptions
{
    /// <summary>Bytes of the kernel's send buffer; null leaves it to the kernel's tuning.</summary>
    public int? SendBufferBytes { get; set; }

    /// <summary>Bytes of the kernel's receive buffer; null leaves it to the kernel's tuning.</summary>
    public int? ReceiveBufferBytes { get; set; }

    /// <summary>Connections that wait to be accepted.</summary>
    public int Backlog { get; set; } = 512;

    /// <summary>Uses only what every operating system has (select) even on Linux.</summary>
    public bool Portable { get; set; } = !OperatingSystem.IsLinux();
}
