using ActOp.Calls;
using ActOp.Runtime.Activations;
using Orleans.Runtime;
using Orleans.Timers;

namespace ActOp.Runtime.Timers;

/// <summary>Makes the timers of grains.</summary>
internal sealed class TimerRegistry : ITimerRegistry
{
    public IGrainTimer RegisterGrainTimer<TState>(IGrainContext grainContext, Func<TState, CancellationToken, Task> callback, TState state, GrainTimerCreationOptions options)
    {
        ArgumentNullException.ThrowIfNull(callback);
        if (grainContext is not Activation activation || !ReferenceEquals(CallHost.Current, activation))
            throw new InvalidOperationException("A timer can only be registered by its grain itself, on one of its turns.");
        return new GrainTimer<TState>(activation, callback, state, options);
    }
}
