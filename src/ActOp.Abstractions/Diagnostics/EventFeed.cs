using System.Diagnostics;

namespace ActOp.Diagnostics;

/// <summary>
/// The events of one kind, for tests and tools: whoever subscribes gets each one on the thread where it happens, under the name of its
/// class. Any thread.
/// </summary>
/// <remarks>
/// Holds the listener, and with it the subscribers, until they end their subscriptions. Without subscribers an event costs one read and is
/// not made. A subscriber that throws loses the event, and so do those after it; the runtime goes on. One that blocks holds up the part of
/// the runtime that reports, so it must be quick.
/// </remarks>
/// <typeparam name="TEvent">The class that the events have in common.</typeparam>
/// <param name="listenerName">The name of the <see cref="DiagnosticListener"/>.</param>
internal sealed class EventFeed<TEvent>(string listenerName) : IObservable<TEvent>
    where TEvent : class
{
    private readonly DiagnosticListener _listener = new(listenerName);

    /// <summary>Whether anybody subscribes. Events are made only then.</summary>
    internal bool IsWatched => _listener.IsEnabled();

    public IDisposable Subscribe(IObserver<TEvent> observer)
    {
        ArgumentNullException.ThrowIfNull(observer);
        return _listener.Subscribe(new Reader(observer));
    }

    internal void Write(TEvent happened)
    {
        try
        {
            // Asks the predicates of the subscribers.
            var name = happened.GetType().Name;
            if (_listener.IsEnabled(name))
                _listener.Write(name, happened);
        }
        catch (Exception)
        {
            // A tool that watches must not change what it watches.
        }
    }

    private sealed class Reader(IObserver<TEvent> observer) : IObserver<KeyValuePair<string, object?>>
    {
        public void OnCompleted() => observer.OnCompleted();

        public void OnError(Exception error) => observer.OnError(error);

        public void OnNext(KeyValuePair<string, object?> value)
        {
            if (value.Value is TEvent happened)
                observer.OnNext(happened);
        }
    }
}
