namespace ActOp.Partitioning;

/// <summary>
/// When to start the next round: quickly while exchanges gain something or the graph changes, then twice as long after each
/// round without gain, up to a limit. Pure; the caller waits.
/// </summary>
/// <param name="options">The shortest and the longest period.</param>
public sealed class RoundPeriod(PartitioningOptions options)
{
    private double _seconds = options.MinRoundPeriod.TotalSeconds;

    /// <summary>The time from one round to the next as it is now.</summary>
    public TimeSpan Current => TimeSpan.FromSeconds(_seconds);

    /// <summary>Records the end of a round.</summary>
    /// <param name="moves">The vertices that its plan moves; 0 backs off.</param>
    /// <param name="jitter">A random number in [0, 1) from the caller's seeded source, so that silos do not march in step.</param>
    /// <returns>How long to wait: 75 to 125 % of the period.</returns>
    public TimeSpan Next(int moves, double jitter)
    {
        _seconds = moves > 0 ? options.MinRoundPeriod.TotalSeconds : Math.Min(_seconds * 2, options.MaxRoundPeriod.TotalSeconds);
        return TimeSpan.FromSeconds(_seconds * (0.75 + (0.5 * jitter)));
    }

    /// <summary>
    /// The graph or the cluster changed (a silo joined or left, the remote share rose): the next rounds come quickly again.
    /// </summary>
    public void Disturb() => _seconds = options.MinRoundPeriod.TotalSeconds;
}
