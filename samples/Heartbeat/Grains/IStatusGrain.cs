namespace Heartbeat.Grains;

/// <summary>The status of one monitored client, keyed by its number.</summary>
public interface IStatusGrain : IGrainWithIntegerKey
{
    /// <summary>The client is alive.</summary>
    /// <param name="beat">The client's count of its own heartbeats.</param>
    /// <param name="blockMs">How long the call blocks its thread, as synchronous input or output of old code would.</param>
    /// <param name="computeUs">Microseconds of processor time that the call uses.</param>
    /// <returns>Updates so far.</returns>
    ValueTask<long> Update(long beat, double blockMs, double computeUs);

    /// <summary>What is known of the client.</summary>
    /// <param name="entries">Entries of its history in the answer.</param>
    /// <param name="blockMs">How long the call blocks its thread.</param>
    /// <param name="computeUs">Microseconds of processor time that the call uses.</param>
    ValueTask<ClientStatus> Read(int entries, double blockMs, double computeUs);
}
