using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Hosting;

/// <summary>Runs its observers by stage: ascending at start, descending at stop. One thread at a time.</summary>
internal class StagedLifecycle : ILifecycleSubject
{
    private List<(int Stage, string Name, ILifecycleObserver Observer)>? _observers;

    /// <summary>The highest stage whose observers have all started.</summary>
    internal int HighestCompletedStage { get; private set; } = int.MinValue;

    /// <summary>The lowest stage whose observers have all stopped.</summary>
    internal int LowestStoppedStage { get; private set; } = int.MaxValue;

    public IDisposable Subscribe(string observerName, int stage, ILifecycleObserver observer)
    {
        ArgumentNullException.ThrowIfNull(observer);
        var entry = (stage, observerName, observer);
        _observers ??= [];
        lock (_observers)
            _observers.Add(entry);
        return new Subscription(() =>
        {
            lock (_observers)
                _observers.Remove(entry);
        });
    }

    /// <summary>Starts every observer; those of one stage together. An exception stops the start.</summary>
    public Task OnStart(CancellationToken cancellationToken = default) =>
        _observers is null ? Task.CompletedTask : StartAsync(cancellationToken);

    /// <summary>Stops the observers of the stages that were started; exceptions of one do not prevent the others from stopping.</summary>
    public Task OnStop(CancellationToken cancellationToken = default) =>
        _observers is null ? Task.CompletedTask : StopAsync(cancellationToken);

    private async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var stage in Snapshot().GroupBy(entry => entry.Stage).OrderBy(group => group.Key))
        {
            cancellationToken.ThrowIfCancellationRequested();
            HighestStartedStage = stage.Key;
            await Task.WhenAll(stage.Select(entry => StartAsync(entry.Observer, cancellationToken)));
            HighestCompletedStage = stage.Key;
        }
    }

    /// <summary>Turns synchronous exceptions into a failed task, so that the other observers of the stage are awaited.</summary>
    private static async Task StartAsync(ILifecycleObserver observer, CancellationToken cancellationToken) =>
        await observer.OnStart(cancellationToken);

    private int HighestStartedStage { get; set; } = int.MinValue;

    private async Task StopAsync(CancellationToken cancellationToken)
    {
        List<Exception>? errors = null;
        foreach (var stage in Snapshot().Where(entry => entry.Stage <= HighestStartedStage).GroupBy(entry =>
            entry.Stage).OrderByDescending(group => group.Key))
        {
            foreach (var entry in stage)
            {
                try
                {
                    await entry.Observer.OnStop(cancellationToken);
                }
                catch (Exception exception)
                {
                    (errors ??= []).Add(exception);
                }
            }

            LowestStoppedStage = stage.Key;
        }

        if (errors is not null)
            throw new AggregateException(errors);
    }

    private List<(int Stage, string Name, ILifecycleObserver Observer)> Snapshot()
    {
        lock (_observers!)
            return [.. _observers];
    }

    private sealed class Subscription(Action dispose) : IDisposable
    {
        public void Dispose() => dispose();
    }
}

/// <summary>The stages of a silo's start and stop.</summary>
internal sealed class SiloLifecycle : StagedLifecycle, ISiloLifecycle
{
    int ISiloLifecycle.HighestCompletedStage => HighestCompletedStage;

    int ISiloLifecycle.LowestStoppedStage => LowestStoppedStage;
}

/// <summary>The stages of a client's start and stop.</summary>
internal sealed class ClientLifecycle : StagedLifecycle, IClusterClientLifecycle;
