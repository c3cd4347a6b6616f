using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;
using Orleans.Timers;

namespace Orleans;

/// <summary>What a grain can do with its own activation.</summary>
public static class GrainBaseExtensions
{
    /// <summary>Ends the activation once the calls that run have ended; calls that wait go to the next one.</summary>
    public static void DeactivateOnIdle(this IGrainBase grain) =>
        ContextOf(grain).Deactivate(new DeactivationReason(DeactivationReasonCode.ApplicationRequested, "The grain asked for it with DeactivateOnIdle."));

    /// <summary>Asks placement for another silo and moves there once the calls that run have ended.</summary>
    /// <remarks>The request context goes along, so that <c>IPlacementDirector.PlacementHintKey</c> in it can name the silo.</remarks>
    public static void MigrateOnIdle(this IGrainBase grain) => ContextOf(grain).Migrate(RequestContext.CopyValues());

    /// <summary>Calls <paramref name="callback"/> again and again, on turns of the activation.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="callback">Gets a token that is signalled when the timer ends.</param>
    /// <param name="options">When, and how it mixes with calls.</param>
    public static IGrainTimer RegisterGrainTimer(this IGrainBase grain, Func<CancellationToken, Task> callback, GrainTimerCreationOptions options)
    {
        ArgumentNullException.ThrowIfNull(callback);
        return grain.RegisterGrainTimer(static (run, token) => run(token), callback, options);
    }

    /// <summary>Calls <paramref name="callback"/> again and again, on turns of the activation.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="callback">Gets a token that is signalled when the timer ends.</param>
    /// <param name="dueTime">Time to the first call; infinite for not at all.</param>
    /// <param name="period">Time from the end of one call to the next; infinite for one call only.</param>
    public static IGrainTimer RegisterGrainTimer(this IGrainBase grain, Func<CancellationToken, Task> callback, TimeSpan dueTime, TimeSpan period) =>
        grain.RegisterGrainTimer(callback, new GrainTimerCreationOptions(dueTime, period));

    /// <summary>Calls <paramref name="callback"/> again and again, on turns of the activation.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="callback">The callback.</param>
    /// <param name="options">When, and how it mixes with calls.</param>
    public static IGrainTimer RegisterGrainTimer(this IGrainBase grain, Func<Task> callback, GrainTimerCreationOptions options)
    {
        ArgumentNullException.ThrowIfNull(callback);
        return grain.RegisterGrainTimer(static (run, _) => run(), callback, options);
    }

    /// <summary>Calls <paramref name="callback"/> again and again, on turns of the activation.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="callback">The callback.</param>
    /// <param name="dueTime">Time to the first call; infinite for not at all.</param>
    /// <param name="period">Time from the end of one call to the next; infinite for one call only.</param>
    public static IGrainTimer RegisterGrainTimer(this IGrainBase grain, Func<Task> callback, TimeSpan dueTime, TimeSpan period) =>
        grain.RegisterGrainTimer(callback, new GrainTimerCreationOptions(dueTime, period));

    /// <summary>Calls <paramref name="callback"/> again and again, on turns of the activation.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="callback">Gets <paramref name="state"/> and a token that is signalled when the timer ends.</param>
    /// <param name="state">Anything.</param>
    /// <param name="options">When, and how it mixes with calls.</param>
    public static IGrainTimer RegisterGrainTimer<TState>(this IGrainBase grain, Func<TState, CancellationToken, Task> callback, TState state, GrainTimerCreationOptions options)
    {
        ArgumentNullException.ThrowIfNull(callback);
        var context = ContextOf(grain);
        return context.ActivationServices.GetRequiredService<ITimerRegistry>().RegisterGrainTimer(context, callback, state, options);
    }

    /// <summary>Calls <paramref name="callback"/> again and again, on turns of the activation.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="callback">Gets <paramref name="state"/> and a token that is signalled when the timer ends.</param>
    /// <param name="state">Anything.</param>
    /// <param name="dueTime">Time to the first call; infinite for not at all.</param>
    /// <param name="period">Time from the end of one call to the next; infinite for one call only.</param>
    public static IGrainTimer RegisterGrainTimer<TState>(this IGrainBase grain, Func<TState, CancellationToken, Task> callback, TState state, TimeSpan dueTime, TimeSpan period) =>
        grain.RegisterGrainTimer(callback, state, new GrainTimerCreationOptions(dueTime, period));

    /// <summary>Calls <paramref name="callback"/> again and again, on turns of the activation.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="callback">Gets <paramref name="state"/>.</param>
    /// <param name="state">Anything.</param>
    /// <param name="options">When, and how it mixes with calls.</param>
    public static IGrainTimer RegisterGrainTimer<TState>(this IGrainBase grain, Func<TState, Task> callback, TState state, GrainTimerCreationOptions options)
    {
        ArgumentNullException.ThrowIfNull(callback);
        return grain.RegisterGrainTimer(static (run, _) => run.callback(run.state), (callback, state), options);
    }

    /// <summary>Calls <paramref name="callback"/> again and again, on turns of the activation.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="callback">Gets <paramref name="state"/>.</param>
    /// <param name="state">Anything.</param>
    /// <param name="dueTime">Time to the first call; infinite for not at all.</param>
    /// <param name="period">Time from the end of one call to the next; infinite for one call only.</param>
    public static IGrainTimer RegisterGrainTimer<TState>(this IGrainBase grain, Func<TState, Task> callback, TState state, TimeSpan dueTime, TimeSpan period) =>
        grain.RegisterGrainTimer(callback, state, new GrainTimerCreationOptions(dueTime, period));

    private static IGrainContext ContextOf(IGrainBase grain)
    {
        ArgumentNullException.ThrowIfNull(grain);
        return grain.GrainContext ?? throw new InvalidOperationException("This " + grain.GetType().Name + " belongs to no activation.");
    }
}
