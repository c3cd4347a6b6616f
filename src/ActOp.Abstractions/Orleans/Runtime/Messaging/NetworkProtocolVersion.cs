namespace Orleans.Runtime.Messaging;

/// <summary>Versions of the protocol between nodes.</summary>
public enum NetworkProtocolVersion : byte
{
    /// <summary>The only one.</summary>
    Version1 = 1,
}
