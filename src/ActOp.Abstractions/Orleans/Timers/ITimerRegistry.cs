using Orleans.Runtime;

namespace Orleans.Timers;

/// <summary>Makes timers.</summary>
public interface ITimerRegistry
{
    /// <summary>Makes a timer that ends with the activation.</summary>
    /// <param name="grainContext">The activation, whose turn it must be.</param>
    /// <param name="callback">Gets <paramref name="state"/> and a token that is signalled when the timer ends.</param>
    /// <param name="state">Anything.</param>
    /// <param name="options">When it ticks.</param>
    /// <exception cref="ArgumentOutOfRangeException">A time is negative (and not infinite) or longer than about 49 days.</exception>
    IGrainTimer RegisterGrainTimer<TState>(
        IGrainContext grainContext, Func<TState, CancellationToken, Task> callback, TState state, GrainTimerCreationOptions options);
}
