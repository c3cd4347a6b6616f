namespace Heartbeat.Options;

/// <summary>The share of the peak that a level means.</summary>
public static class LoadShare
{
    /// <summary>0 to 1.</summary>
    public static double Of(LoadLevel level) => level switch
    {
        LoadLevel.Low => 0.5,
        LoadLevel.Middle => 0.65,
        _ => 0.8,
    };
}
