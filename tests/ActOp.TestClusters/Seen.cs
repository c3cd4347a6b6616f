namespace ActOp.TestClusters;

/// <summary>
/// The events of one feed that a test is interested in, in order. Other tests of the process have events on the same feed.
/// </summary>
public sealed class Seen<T> : IObserver<T>, IDisposable
{
    private readonly List<T> _events = [];
    private readonly SemaphoreSlim _arrivals = new(0);
    private readonly Func<T, bool> _isWanted;
    private readonly IDisposable _subscription;

    public Seen(IObservable<T> feed, Func<T, bool> isWanted)
    {
        _isWanted = isWanted;
        _subscription = feed.Subscribe(this);
    }

    public T[] Events
    {
        get
        {
            lock (_events)
                return [.. _events];
        }
    }

    public string[] Names => [.. Events.Select(static one => one!.GetType().Name)];

    public void Dispose()
    {
        _subscription.Dispose();
        _arrivals.Dispose();
    }

    /// <summary>Waits until one of the events is that.</summary>
    public async Task<TEvent> UntilAsync<TEvent>(Func<TEvent, bool>? match = null)
        where TEvent : T
    {
        while (true)
        {
            if (Events.OfType<TEvent>().FirstOrDefault(one => match?.Invoke(one) ?? true) is { } found)
                return found;
            if (!await _arrivals.WaitAsync(Gate.Patience))
                throw new TimeoutException(typeof(TEvent).Name + " has not come, but: " + string.Join(' ', Names));
        }
    }

    public void OnCompleted()
    {
    }

    public void OnError(Exception error)
    {
    }

    public void OnNext(T value)
    {
        if (!_isWanted(value))
            return;
        lock (_events)
            _events.Add(value);
        _arrivals.Release();
    }
}
