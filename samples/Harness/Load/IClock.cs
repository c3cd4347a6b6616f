namespace Harness.Load;

/// <summary>The time that paces the load: monotonic in a run, virtual in tests.</summary>
public interface IClock
{
    /// <summary>Time since an arbitrary moment, the same for all processes of one machine.</summary>
    TimeSpan Now { get; }

    /// <summary>Blocks the calling thread until <paramref name="time"/>; returns at once when that is past.</summary>
    void WaitUntil(TimeSpan time);
}
