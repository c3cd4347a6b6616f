namespace ActOp.Testing.Simulated;

/// <summary>What the network of a run is like, drawn once.</summary>
/// <param name="Latency">Least time of a packet, in ticks.</param>
/// <param name="Jitter">Mean of what comes on top.</param>
/// <param name="Buffer">Bytes that one direction of a connection takes before the sender blocks.</param>
/// <param name="Pieces">Share of the sends that arrive in pieces.</param>
/// <param name="BytesPerSecond">Of a direction; 0 for no limit.</param>
internal sealed record Wires(long Latency, long Jitter, int Buffer, double Pieces, long BytesPerSecond);

/// <summary>Sees what nodes send to each other and to the table, and decides what becomes of it.</summary>
internal interface IWireTap
{
    /// <summary>An end sends these bytes. True if they are lost.</summary>
    bool Sends(WireEnd from, ReadOnlySpan<byte> bytes);

    /// <summary>A request of a machine has arrived at the table.</summary>
    TableFate Arrives(Machine machine, Runtime.Cluster.TableRequest request);
}
