namespace Heartbeat.Grains;

/// <summary>A counter: the application of the paper's Figures 4 and 5.</summary>
public interface ICounterGrain : IGrainWithIntegerKey
{
    /// <summary>Counts.</summary>
    /// <param name="blockMs">How long the call blocks its thread.</param>
    /// <param name="computeUs">Microseconds of processor time that the call uses.</param>
    /// <returns>The count.</returns>
    ValueTask<long> Increment(double blockMs, double computeUs);
}
