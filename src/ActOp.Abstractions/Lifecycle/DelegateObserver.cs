using Orleans;

namespace ActOp.Lifecycle;

/// <summary>A lifecycle observer made of two methods.</summary>
internal sealed class DelegateObserver(Func<CancellationToken, Task> onStart, Func<CancellationToken, Task>? onStop) : ILifecycleObserver
{
    public Task OnStart(CancellationToken cancellationToken = default) => onStart(cancellationToken);

    public Task OnStop(CancellationToken cancellationToken = default) => onStop is null ? Task.CompletedTask : onStop(cancellationToken);
}
