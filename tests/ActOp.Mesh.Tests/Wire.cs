namespace ActOp.Mesh.Tests;

/// <summary>The transports that every behaviour is tested over.</summary>
public enum Wire
{
    Memory,
    Tcp,
    PortableTcp,
}
