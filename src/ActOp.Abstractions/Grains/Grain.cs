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
