namespace Orleans;

/// <summary>Is told when a stage starts and stops.</summary>
public interface ILifecycleObserver
{
    /// <summary>The stage starts; the next one waits for the task. An exception ends the start.</summary>
    Task OnStart(CancellationToken cancellationToken = default);

    /// <summary>The stage stops; the one before waits for the task.</summary>
    Task OnStop(CancellationToken cancellationToken = default);
}
