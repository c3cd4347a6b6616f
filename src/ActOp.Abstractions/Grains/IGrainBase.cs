using Orleans.Runtime;

namespace Orleans;

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
