namespace Heartbeat.Children;

/// <summary>
/// The stages that a controller sizes, in the order in which a request of a client passes them; indexes into
/// <see cref="SiloSample.Stages"/>.
/// </summary>
public static class StageNames
{
    /// <summary>Reads and decodes.</summary>
    public const int Receive = 0;

    /// <summary>Runs turns.</summary>
    public const int Work = 1;

    /// <summary>Writes to silos.</summary>
    public const int SiloSend = 2;

    /// <summary>Writes to clients.</summary>
    public const int ClientSend = 3;

    /// <summary>Names as the runtime's metrics tag them.</summary>
    public static IReadOnlyList<string> Tags { get; } = ["receive", "work", "silo-send", "client-send"];
}
