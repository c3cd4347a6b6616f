using ActOp.Staging.Model;

namespace ActOp.Staging.Measuring;

/// <summary>
/// What the sources have in common: arrivals are counted, and an event costs the mean over the sample of the period, or the last known mean
/// when that is empty.
/// </summary>
public abstract class SampledSource : IDemandSource
{
    private const double NanosecondsPerSecond = 1e9;

    private StageDemand[] _last = [];

    /// <inheritdoc/>
    public abstract string Name { get; }

    /// <inheritdoc/>
    public IReadOnlyList<StageDemand> Estimate(IReadOnlyList<(StageUsage Begin, StageUsage End)> stages, double seconds)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(seconds);
        if (_last.Length != stages.Count)
            _last = new StageDemand[stages.Count];
        BusyTime[] busy = [.. stages.Select(static stage => stage.End.Busy - stage.Begin.Busy)];
        var blocked = Blocked(busy);
        for (var i = 0; i < busy.Length; i++)
        {
            var arrivals = Math.Max(0, stages[i].End.Arrived - stages[i].Begin.Arrived) / seconds;
            if (busy[i] is { Items: > 0, Cpu: > 0 })
                _last[i] = new(arrivals, PerItem(busy[i].Cpu, busy[i]), PerItem(Math.Max(0, blocked[i]), busy[i]));
            else
                _last[i] = _last[i] with { Arrivals = _last[i].Compute > 0 ? arrivals : 0 };
        }

        return [.. _last];
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>The blocked time in each stage's sample, in nanoseconds; below zero counts as zero.</summary>
    /// <param name="busy">The samples of the period.</param>
    /// <returns>For each stage.</returns>
    protected abstract double[] Blocked(BusyTime[] busy);

    /// <summary>Ends it.</summary>
    /// <param name="disposing">True when called by <see cref="Dispose()"/>.</param>
    protected virtual void Dispose(bool disposing)
    {
    }

    private static double PerItem(double nanoseconds, BusyTime busy) => nanoseconds / NanosecondsPerSecond / busy.Items;
}
