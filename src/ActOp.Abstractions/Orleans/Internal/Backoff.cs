namespace Orleans.Internal;

/// <summary>Says how long to wait before a repetition.</summary>
public interface IBackoffProvider
{
    /// <summary>The time before a repetition.</summary>
    /// <param name="attempt">Its number, from 0.</param>
    TimeSpan Next(int attempt);
}

/// <summary>Always the same time.</summary>
public class FixedBackoff : IBackoffProvider
{
    private readonly TimeSpan _delay;

    /// <summary>Creates the provider.</summary>
    public FixedBackoff(TimeSpan delay) => _delay = delay;

    /// <inheritdoc/>
    public TimeSpan Next(int attempt) => _delay;
}
