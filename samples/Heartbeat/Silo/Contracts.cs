namespace Heartbeat;

/// <summary>The status of one monitored client, keyed by its number.</summary>
public interface IStatusGrain : IGrainWithIntegerKey
{
    /// <summary>The client is alive.</summary>
    /// <param name="beat">The client's count of its own heartbeats.</param>
    /// <returns>Updates so far.</returns>
    Task<long> Update(long beat);

    /// <summary>What is known of the client.</summary>
    /// <param name="entries">Entries of its history in the answer.</param>
    Task<ClientStatus> Read(int entries);
}

/// <summary>A counter: the application of the paper's Figures 4 and 5.</summary>
public interface ICounterGrain : IGrainWithIntegerKey
{
    /// <summary>Counts, and returns the count.</summary>
    Task<long> Increment();
}

/// <summary>What is known of a client.</summary>
/// <param name="Client">The client.</param>
/// <param name="Updates">Updates so far.</param>
/// <param name="LastBeat">The number of its last heartbeat.</param>
/// <param name="History">Heartbeats before, as many as were asked for.</param>
[GenerateSerializer, Immutable]
public readonly record struct ClientStatus(
    [property: Id(0)] long Client, [property: Id(1)] long Updates, [property: Id(2)] long LastBeat, [property: Id(3)] long[] History);
