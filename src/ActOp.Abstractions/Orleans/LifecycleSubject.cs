using System.Collections.Immutable;
using System.Globalization;
using System.Reflection;
using Microsoft.Extensions.Logging;

namespace Orleans;

/// <summary>
/// A lifecycle for libraries: its observers start stage by stage in ascending order, those of one stage at the same time, and stop in
/// descending order, from the highest stage whose start began.
/// </summary>
/// <remarks>
/// Any thread subscribes; one start and one stop at a time. A start that throws ends with that exception: whoever started then stops. An
/// observer that throws at the stop is logged, and the others stop. An observer that subscribes to a stage that has begun is refused.
/// </remarks>
public abstract class LifecycleSubject : ILifecycleSubject
{
    /// <summary>For failures at the stop.</summary>
    protected readonly ILogger Logger;

    private readonly List<Entry> _observers = [];
    private int? _reached;

    /// <summary>Creates the lifecycle.</summary>
    protected LifecycleSubject(ILogger logger)
    {
        ArgumentNullException.ThrowIfNull(logger);
        Logger = logger;
    }

    /// <inheritdoc/>
    public virtual IDisposable Subscribe(string observerName, int stage, ILifecycleObserver observer)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(observerName);
        ArgumentNullException.ThrowIfNull(observer);
        lock (_observers)
        {
            if (_reached >= stage)
                throw new InvalidOperationException("The lifecycle has reached the stage " + GetStageName(_reached.Value) + " already.");
            var entry = new Entry(this, stage, observer);
            _observers.Add(entry);
            return entry;
        }
    }

    /// <inheritdoc/>
    public virtual async Task OnStart(CancellationToken cancellationToken = default)
    {
        if (_reached is not null)
            throw new InvalidOperationException("The lifecycle has started already.");
        foreach (var stage in Snapshot().GroupBy(static entry => entry.Stage).OrderBy(static stage => stage.Key))
        {
            if (cancellationToken.IsCancellationRequested)
            {
                throw new Runtime.OrleansLifecycleCanceledException("The start was cancelled before stage " + GetStageName(stage.Key)
                    + ".");
            }

            var watch = TimeProvider.System.GetTimestamp();
            _reached = stage.Key;
            await Task.WhenAll(stage.Select(entry => StartOne(entry.Observer, cancellationToken))).ConfigureAwait(true);
            PerfMeasureOnStart(stage.Key, TimeProvider.System.GetElapsedTime(watch));
            OnStartStageCompleted(stage.Key);
        }
    }

    /// <inheritdoc/>
    public virtual async Task OnStop(CancellationToken cancellationToken = default)
    {
        if (_reached is not { } highest)
            return;
        var stages = Snapshot().Where(entry => entry.Stage <= highest).GroupBy(static entry => entry.Stage)
            .OrderByDescending(static stage => stage.Key);
        foreach (var stage in stages)
        {
            var watch = TimeProvider.System.GetTimestamp();
            await Task.WhenAll(stage.Select(entry => StopOne(entry.Observer, stage.Key, cancellationToken))).ConfigureAwait(true);
            PerfMeasureOnStop(stage.Key, TimeProvider.System.GetElapsedTime(watch));
            OnStopStageCompleted(stage.Key);
        }

        _reached = null;
    }

    /// <summary>The names of the constants of a class, by their values.</summary>
    protected static ImmutableDictionary<int, string> GetStageNames(Type type)
    {
        ArgumentNullException.ThrowIfNull(type);
        var stages = type.GetFields(BindingFlags.Public | BindingFlags.Static | BindingFlags.FlattenHierarchy)
            .Where(static field => field.IsLiteral && field.FieldType == typeof(int));
        return stages.DistinctBy(static field => (int)field.GetRawConstantValue()!).ToImmutableDictionary(
            static field => (int)field.GetRawConstantValue()!,
            static field => string.Create(CultureInfo.InvariantCulture, $"{field.Name} ({field.GetRawConstantValue()})"));
    }

    /// <summary>The name of a stage for people.</summary>
    protected virtual string GetStageName(int stage) => stage.ToString(CultureInfo.InvariantCulture);

    /// <summary>Stops one observer.</summary>
    protected virtual Task CallObserverStopAsync(ILifecycleObserver observer, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(observer);
        return observer.OnStop(cancellationToken);
    }

    /// <summary>All observers of a stage have started.</summary>
    protected virtual void OnStartStageCompleted(int stage)
    {
    }

    /// <summary>All observers of a stage have stopped.</summary>
    protected virtual void OnStopStageCompleted(int stage)
    {
    }

    /// <summary>How long the start of a stage took.</summary>
    protected virtual void PerfMeasureOnStart(int stage, TimeSpan elapsed)
    {
    }

    /// <summary>How long the stop of a stage took.</summary>
    protected virtual void PerfMeasureOnStop(int stage, TimeSpan elapsed)
    {
    }

    /// <summary>An exception of an observer without tasks fails the stage like any other.</summary>
    private static async Task StartOne(ILifecycleObserver observer, CancellationToken cancellationToken) =>
        await observer.OnStart(cancellationToken).ConfigureAwait(true);

    private async Task StopOne(ILifecycleObserver observer, int stage, CancellationToken cancellationToken)
    {
        try
        {
            await CallObserverStopAsync(observer, cancellationToken).ConfigureAwait(true);
        }
        catch (Exception exception)
        {
            LifecycleLog.StopFailed(Logger, GetStageName(stage), exception);
        }
    }

    private List<Entry> Snapshot()
    {
        lock (_observers)
            return [.. _observers];
    }

    private sealed class Entry(LifecycleSubject owner, int stage, ILifecycleObserver observer) : IDisposable
    {
        internal int Stage => stage;

        internal ILifecycleObserver Observer => observer;

        public void Dispose()
        {
            lock (owner._observers)
                owner._observers.Remove(this);
        }
    }
}

/// <summary>Log events of lifecycles.</summary>
internal static partial class LifecycleLog
{
    [LoggerMessage(1240, LogLevel.Error, "An observer of a lifecycle failed to stop in stage {Stage}.")]
    internal static partial void StopFailed(ILogger logger, string stage, Exception exception);

    [LoggerMessage(1241, LogLevel.Warning, "An action failed ({Caller}).")]
    internal static partial void ActionFailed(ILogger logger, string? caller, Exception exception);
}
