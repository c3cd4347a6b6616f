namespace Heartbeat.Grains;

/// <summary>What is known of a client.</summary>
/// <param name="Client">The client.</param>
/// <param name="Updates">Updates so far.</param>
/// <param name="LastBeat">The number of its last heartbeat.</param>
/// <param name="History">Heartbeats before, as many as were asked for.</param>
[GenerateSerializer, Immutable]
public readonly record struct ClientStatus([property: Id(0)] long Client, [property: Id(1)] long Updates, [property: Id(2)] long LastBeat, [property: Id(3)] long[] History);
