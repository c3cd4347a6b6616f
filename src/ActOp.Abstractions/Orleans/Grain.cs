using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;
using Orleans.Timers;

namespace Orleans;

/// <summary>The usual base class of grains.</summary>
/// <remarks>An object that the runtime did not make has no context: its members throw <see cref="InvalidOperationException"/>.</remarks>
public abstract class Grain : IGrainBase, IAddressable
{
    private readonly IGrainContext? _context;
    private IGrainRuntime? _runtime;

    /// <summary>Joins the activation that is being made on this thread.</summary>
    protected Grain()
        : this(GrainContextScope.Current!)
    {
    }

    /// <summary>Joins an activation.</summary>
    /// <param name="grainContext">The activation.</param>
    /// <param name="grainRuntime">The runtime, or null for the one in the activation's services.</param>
    protected Grain(IGrainContext grainContext, IGrainRuntime? grainRuntime = null)
    {
        _context = grainContext;
        _runtime = grainRuntime;
    }

    /// <inheritdoc/>
    public IGrainContext GrainContext => _context ?? throw new InvalidOperationException(
        "This " + GetType().Name + " was not made by the runtime, so it belongs to no activation. Get grains from an IGrainFactory.");

    /// <summary>A reference to this grain.</summary>
    public GrainReference GrainReference => GrainContext.GrainReference;

    /// <summary>The grain's id as text.</summary>
    public string IdentityString => GrainContext.GrainId.ToString();

    /// <summary>The silo as text.</summary>
    public string RuntimeIdentity => Runtime.SiloIdentity;

    /// <summary>Makes references to grains.</summary>
    protected IGrainFactory GrainFactory => Runtime.GrainFactory;

    /// <summary>The services of this activation.</summary>
    protected internal IServiceProvider ServiceProvider => GrainContext.ActivationServices;

    internal IGrainRuntime Runtime => _runtime ??= GrainContext.ActivationServices.GetRequiredService<IGrainRuntime>();

    /// <inheritdoc/>
    public virtual Task OnActivateAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public virtual Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Ends this activation once the calls that run have ended; calls that wait go to the next one.</summary>
    protected void DeactivateOnIdle()
    {
        var context = GrainContext;
        Runtime.DeactivateOnIdle(context);
    }

    /// <summary>Keeps this activation for a time even when it is idle.</summary>
    /// <param name="timeSpan">How long from now; zero or less takes an earlier request back.</param>
    protected void DelayDeactivation(TimeSpan timeSpan)
    {
        var context = GrainContext;
        Runtime.DelayDeactivation(context, timeSpan);
    }

    /// <summary>Asks placement for another silo and moves there once the calls that run have ended.</summary>
    protected void MigrateOnIdle() => ((IGrainBase)this).MigrateOnIdle();

    /// <summary>Calls <paramref name="callback"/> again and again, beside calls that run.</summary>
    /// <param name="callback">Gets <paramref name="state"/>.</param>
    /// <param name="state">Anything.</param>
    /// <param name="dueTime">Time to the first call.</param>
    /// <param name="period">Time from the end of one call to the next; infinite for one call only.</param>
    /// <returns>Ends the timer when disposed.</returns>
    [Obsolete("Use RegisterGrainTimer. The equivalent of this method sets Interleave in GrainTimerCreationOptions.")]
    protected IDisposable RegisterTimer(Func<object?, Task> callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        ArgumentNullException.ThrowIfNull(callback);
        return this.RegisterGrainTimer(callback, state, new GrainTimerCreationOptions(dueTime, period) { Interleave = true });
    }
}

/// <summary>
/// What the runtime asks of a grain class. Classes that do not derive from <see cref="Grain"/> implement it with a context from their
/// constructor.
/// </summary>
public interface IGrainBase
{
    /// <summary>The activation that the object belongs to.</summary>
    IGrainContext GrainContext { get; }

    /// <summary>Called before the first call; an exception fails the activation and reaches those who wait for it.</summary>
    /// <param name="token">Signalled when activation takes longer than it may.</param>
    Task OnActivateAsync(CancellationToken token) => Task.CompletedTask;

    /// <summary>Called after the last call, unless the process dies before.</summary>
    /// <param name="reason">Why the activation ends.</param>
    /// <param name="token">Signalled when deactivation takes longer than it may.</param>
    Task OnDeactivateAsync(DeactivationReason reason, CancellationToken token) => Task.CompletedTask;
}

/// <summary>What a grain can do with its own activation.</summary>
public static class GrainBaseExtensions
{
    /// <summary>Ends the activation once the calls that run have ended; calls that wait go to the next one.</summary>
    public static void DeactivateOnIdle(this IGrainBase grain) =>
        ContextOf(grain).Deactivate(
            new DeactivationReason(DeactivationReasonCode.ApplicationRequested, "The grain asked for it with DeactivateOnIdle."));

    /// <summary>Asks placement for another silo and moves there once the calls that run have ended.</summary>
    /// <remarks>The request context goes along, so that <c>IPlacementDirector.PlacementHintKey</c> in it can name the silo.</remarks>
    public static void MigrateOnIdle(this IGrainBase grain) => ContextOf(grain).Migrate(RequestContext.CopyValues());

    /// <summary>Calls <paramref name="callback"/> again and again, on turns of the activation.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="callback">Gets a token that is signalled when the timer ends.</param>
    /// <param name="options">When, and how it mixes with calls.</param>
    public static IGrainTimer RegisterGrainTimer(
        this IGrainBase grain, Func<CancellationToken, Task> callback, GrainTimerCreationOptions options)
    {
        ArgumentNullException.ThrowIfNull(callback);
        return grain.RegisterGrainTimer(static (run, token) => run(token), callback, options);
    }

    /// <summary>Calls <paramref name="callback"/> again and again, on turns of the activation.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="callback">Gets a token that is signalled when the timer ends.</param>
    /// <param name="dueTime">Time to the first call; infinite for not at all.</param>
    /// <param name="period">Time from the end of one call to the next; infinite for one call only.</param>
    public static IGrainTimer RegisterGrainTimer(
        this IGrainBase grain, Func<CancellationToken, Task> callback, TimeSpan dueTime, TimeSpan period) =>
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
    public static IGrainTimer RegisterGrainTimer<TState>(
        this IGrainBase grain, Func<TState, CancellationToken, Task> callback, TState state, GrainTimerCreationOptions options)
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
    public static IGrainTimer RegisterGrainTimer<TState>(
        this IGrainBase grain, Func<TState, CancellationToken, Task> callback, TState state, TimeSpan dueTime, TimeSpan period) =>
        grain.RegisterGrainTimer(callback, state, new GrainTimerCreationOptions(dueTime, period));

    /// <summary>Calls <paramref name="callback"/> again and again, on turns of the activation.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="callback">Gets <paramref name="state"/>.</param>
    /// <param name="state">Anything.</param>
    /// <param name="options">When, and how it mixes with calls.</param>
    public static IGrainTimer RegisterGrainTimer<TState>(
        this IGrainBase grain, Func<TState, Task> callback, TState state, GrainTimerCreationOptions options)
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
    public static IGrainTimer RegisterGrainTimer<TState>(
        this IGrainBase grain, Func<TState, Task> callback, TState state, TimeSpan dueTime, TimeSpan period) =>
        grain.RegisterGrainTimer(callback, state, new GrainTimerCreationOptions(dueTime, period));

    private static IGrainContext ContextOf(IGrainBase grain)
    {
        ArgumentNullException.ThrowIfNull(grain);
        return grain.GrainContext ?? throw new InvalidOperationException("This " + grain.GetType().Name + " belongs to no activation.");
    }
}
