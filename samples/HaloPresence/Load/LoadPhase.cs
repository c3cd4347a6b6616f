namespace HaloPresence.Load;

/// <summary>The phases of a load, in order.</summary>
public enum LoadPhase
{
    /// <summary>The games that run at the start are being created.</summary>
    Setup,

    /// <summary>Open-loop load that does not count.</summary>
    Warmup,

    /// <summary>Open-loop load that counts.</summary>
    Measure,

    /// <summary>Closed-loop load that finds the peak throughput.</summary>
    Saturate,

    /// <summary>Over; the report carries the whole histogram.</summary>
    Done,
}
