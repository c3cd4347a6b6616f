namespace Heartbeat.Options;

/// <summary>How much of the baseline's peak is asked for.</summary>
public enum LoadLevel
{
    /// <summary>Half of it.</summary>
    Low,

    /// <summary>Two thirds.</summary>
    Middle,

    /// <summary>Four fifths: what the paper calls the most that production would run.</summary>
    High,
}
