namespace Orleans.Timers.Internal;

/// <summary>Waits by the clock of the silo or client, as a service of it.</summary>
public interface ITimerManager
{
    /// <summary>Waits. False if the token ended the wait.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The time is negative and not infinite.</exception>
    Task<bool> Delay(TimeSpan timeSpan, CancellationToken cancellationToken = default);
}
