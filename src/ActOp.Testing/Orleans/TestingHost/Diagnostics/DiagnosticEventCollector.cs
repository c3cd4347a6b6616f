using System.Diagnostics;

namespace Orleans.TestingHost.Diagnostics;

/// <summary>An event that was collected.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Payload">What it says.</param>
/// <param name="Timestamp">When it was collected.</param>
public readonly record struct DiagnosticEvent(string Name, object? Payload, DateTimeOffset Timestamp);

/// <summary>
/// Collects the events of diagnostic listeners of this process, and waits for events. Any thread; ends with <see cref="Dispose"/>, which
/// leaves those who still wait to their time limits.
/// </summary>
public sealed class DiagnosticEventCollector
    : IDisposable, IObserver<DiagnosticListener>, IObserver<KeyValuePair<string, object?>>
{
    private readonly Lock _gate = new();
    private readonly List<DiagnosticEvent> _events = [];
    private readonly List<(string Name, TaskCompletionSource<DiagnosticEvent> Waiter)> _waiters = [];
    private readonly List<IDisposable> _subscriptions = [];
    private readonly string[] _prefixes;
    private readonly TimeProvider _time;
    private readonly IDisposable _listeners;
    private bool _isDisposed;

    /// <summary>Collects from the listeners whose names begin with one of the prefixes; from all if there are none.</summary>
    public DiagnosticEventCollector(IEnumerable<string>? listenerPrefixes = null, TimeProvider? timeProvider = null)
    {
        _prefixes = [.. listenerPrefixes ?? []];
        _time = timeProvider ?? TimeProvider.System;
        _listeners = DiagnosticListener.AllListeners.Subscribe(this);
    }

    /// <summary>Collects from the listeners whose names begin with one of the prefixes; from all if there are none.</summary>
    public DiagnosticEventCollector(params string[] listenerPrefixes)
        : this((IEnumerable<string>)listenerPrefixes)
    {
    }

    /// <summary>What was collected, in order.</summary>
    public IReadOnlyList<DiagnosticEvent> Events
    {
        get
        {
            lock (_gate)
                return [.. _events];
        }
    }

    /// <summary>The collected events of a name.</summary>
    public IEnumerable<DiagnosticEvent> GetEvents(string eventName) => Events.Where(one => one.Name == eventName);

    /// <summary>The number of collected events of a name.</summary>
    public int GetEventCount(string eventName) => GetEvents(eventName).Count();

    /// <summary>Forgets what was collected.</summary>
    public void Clear()
    {
        lock (_gate)
            _events.Clear();
    }

    /// <summary>The first collected event of a name, or the next one.</summary>
    /// <exception cref="TimeoutException">None came in time.</exception>
    public Task<DiagnosticEvent> WaitForEventAsync(string eventName, TimeSpan timeout, CancellationToken cancellationToken = default) =>
        WaitForEventAsync(eventName, static _ => true, timeout, cancellationToken);

    /// <summary>The first collected event of a name that matches, or the next one.</summary>
    /// <exception cref="TimeoutException">None came in time.</exception>
    public async Task<DiagnosticEvent> WaitForEventAsync(
        string eventName, Func<DiagnosticEvent, bool> predicate, TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(predicate);
        var found = await WaitForAsync(eventName, 1, predicate, timeout, cancellationToken).ConfigureAwait(false);
        return found[0];
    }

    /// <summary>The collected events of a name, as soon as there are so many.</summary>
    /// <exception cref="TimeoutException">There were fewer in time.</exception>
    public Task<IReadOnlyList<DiagnosticEvent>> WaitForEventCountAsync(
        string eventName, int expectedCount, TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(expectedCount, 1);
        return WaitForAsync(eventName, expectedCount, static _ => true, timeout, cancellationToken);
    }

    /// <summary>Completes with the next event of a name, not with one that was collected before.</summary>
    public TaskCompletionSource<DiagnosticEvent> CreateEventAwaiter(string eventName)
    {
        var waiter = new TaskCompletionSource<DiagnosticEvent>(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
            _waiters.Add((eventName, waiter));
        return waiter;
    }

    /// <summary>Collects nothing more.</summary>
    public void Dispose()
    {
        IDisposable[] ended;
        lock (_gate)
        {
            _isDisposed = true;
            ended = [_listeners, .. _subscriptions];
            _subscriptions.Clear();
        }

        foreach (var one in ended)
            one.Dispose();
    }

    void IObserver<DiagnosticListener>.OnNext(DiagnosticListener value)
    {
        if (_prefixes.Length > 0 && !Array.Exists(_prefixes, prefix => value.Name.StartsWith(prefix, StringComparison.Ordinal)))
            return;
        var subscription = value.Subscribe(this);
        lock (_gate)
        {
            if (!_isDisposed)
            {
                _subscriptions.Add(subscription);
                return;
            }
        }

        subscription.Dispose();
    }

    void IObserver<KeyValuePair<string, object?>>.OnNext(KeyValuePair<string, object?> value)
    {
        var happened = new DiagnosticEvent(value.Key, value.Value, _time.GetUtcNow());
        lock (_gate)
        {
            _events.Add(happened);
            foreach (var (name, waiter) in _waiters)
            {
                if (name == happened.Name)
                    waiter.TrySetResult(happened);
            }

            _waiters.RemoveAll(static one => one.Waiter.Task.IsCompleted);
        }
    }

    void IObserver<DiagnosticListener>.OnError(Exception error)
    {
    }

    void IObserver<DiagnosticListener>.OnCompleted()
    {
    }

    void IObserver<KeyValuePair<string, object?>>.OnError(Exception error)
    {
    }

    void IObserver<KeyValuePair<string, object?>>.OnCompleted()
    {
    }

    private async Task<IReadOnlyList<DiagnosticEvent>> WaitForAsync(
        string name, int count, Func<DiagnosticEvent, bool> match, TimeSpan timeout, CancellationToken cancellation)
    {
        var began = _time.GetTimestamp();
        while (true)
        {
            // Before the look at what there is, so that nothing is missed between the two.
            var next = CreateEventAwaiter(name);
            DiagnosticEvent[] found = [.. GetEvents(name).Where(match)];
            if (found.Length >= count)
            {
                next.TrySetCanceled(CancellationToken.None);
                return found;
            }

            try
            {
                var left = timeout - _time.GetElapsedTime(began);
                await next.Task.WaitAsync(left > TimeSpan.Zero ? left : TimeSpan.Zero, _time, cancellation).ConfigureAwait(false);
            }
            catch (TimeoutException)
            {
                next.TrySetCanceled(CancellationToken.None);
                throw new TimeoutException("Of " + count + " events " + name + " only " + found.Length + " have come within " + timeout
                    + ".");
            }
        }
    }
}
