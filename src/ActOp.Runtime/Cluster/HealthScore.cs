namespace ActOp.Runtime.Cluster;

/// <summary>
/// How far a silo mistrusts its own observations, 0 (healthy) to 8: late ticks, no probe traffic, silos it could not reach but others
/// could. It stretches the silo's own timeouts so that a sick silo does not evict healthy ones.
/// </summary>
internal sealed class HealthScore(int decayPeriod)
{
    private const int Worst = 8;
    private long _calmSince;

    /// <summary>The score.</summary>
    public int Value { get; private set; }

    /// <summary>A sign of own trouble.</summary>
    public void Worsen(int points, long now)
    {
        Value = Math.Min(Worst, Value + points);
        _calmSince = now;
    }

    /// <summary>Takes back one point for each calm period.</summary>
    public void Decay(long now)
    {
        if (Value > 0 && now - _calmSince >= decayPeriod)
        {
            Value--;
            _calmSince = now;
        }
    }

    /// <summary>A timeout as this score stretches it: one to five times.</summary>
    public int Stretch(int timeout) => timeout + (timeout * Value / 2);
}
