using System.Collections;
using ActOp.Calls;
using Microsoft.Extensions.Logging;
using Orleans.Runtime;

namespace Orleans.Utilities;

/// <summary>Observers, each known by its own reference, see <see cref="ObserverManager{TIdentity, TObserver}"/>.</summary>
/// <typeparam name="TObserver">The observers' interface.</typeparam>
public class ObserverManager<TObserver> : ObserverManager<IAddressable, TObserver>
{
    /// <summary>Creates an empty set.</summary>
    /// <param name="expiration">How long an observer stays without subscribing again.</param>
    /// <param name="log">Where it is told which observers are dropped.</param>
    public ObserverManager(TimeSpan expiration, ILogger log)
        : base(expiration, log)
    {
    }
}

/// <summary>A set of observers that drops those that fail and those that have not subscribed again in time.</summary>
/// <remarks>May be used from any thread. Notifying works on the observers of the moment it begins.</remarks>
/// <typeparam name="TIdentity">What an observer is known by.</typeparam>
/// <typeparam name="TObserver">The observers' interface.</typeparam>
public class ObserverManager<TIdentity, TObserver> : IEnumerable<TObserver>
    where TIdentity : notnull
{
    /// <summary>Calls that wait for their answers at the same time: some 30 MB.</summary>
    private const int MaxPending = 1 << 16;

    private readonly Dictionary<TIdentity, Entry> _entries = [];
    private readonly Lock _gate = new();
    private readonly ILogger _log;

    /// <summary>Creates an empty set.</summary>
    /// <param name="expiration">How long an observer stays without subscribing again.</param>
    /// <param name="log">Where it is told which observers are dropped.</param>
    public ObserverManager(TimeSpan expiration, ILogger log)
    {
        ArgumentNullException.ThrowIfNull(log);
        ExpirationDuration = expiration;
        _log = log;
    }

    /// <summary>How many observers there are, expired ones that have not been dropped yet included.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
                return _entries.Count;
        }
    }

    /// <summary>How long an observer stays without subscribing again.</summary>
    public TimeSpan ExpirationDuration { get; set; }

    /// <summary>The clock, in UTC.</summary>
    public Func<DateTime> GetDateTime { get; set; } = static () => TimeProvider.System.GetUtcNow().UtcDateTime;

    /// <summary>The observers of this moment.</summary>
    public IReadOnlyDictionary<TIdentity, TObserver> Observers
    {
        get
        {
            lock (_gate)
                return _entries.ToDictionary(pair => pair.Key, pair => pair.Value.Observer);
        }
    }

    /// <summary>Adds an observer, or renews it under the same identity.</summary>
    public void Subscribe(TIdentity id, TObserver observer)
    {
        var entry = new Entry(observer, GetDateTime());
        bool renewed;
        lock (_gate)
        {
            renewed = _entries.ContainsKey(id);
            _entries[id] = entry;
        }

        _log.LogDebug("Observer {Id} {Verb}.", id, renewed ? "renewed" : "added");
    }

    /// <summary>Removes an observer.</summary>
    public void Unsubscribe(TIdentity id)
    {
        bool removed;
        lock (_gate)
            removed = _entries.Remove(id);
        if (removed)
            _log.LogDebug("Observer {Id} removed.", id);
    }

    /// <summary>Removes all observers.</summary>
    public void Clear()
    {
        lock (_gate)
            _entries.Clear();
    }

    /// <summary>Drops the observers that have not subscribed again in time.</summary>
    public void ClearExpired()
    {
        var now = GetDateTime();
        foreach (var (id, entry) in Snapshot())
        {
            if (IsExpired(entry, now))
                Drop(id, entry, null);
        }
    }

    /// <summary>
    /// Calls the observers one after the other, and waits until all have answered; drops expired ones and those whose call fails. If the
    /// notification only passes on the task of a call, it does not wait for one observer before it calls the next.
    /// </summary>
    /// <remarks>Calls with the same content to observers of one client or silo are one message.</remarks>
    /// <param name="notification">The call.</param>
    /// <param name="predicate">Which observers are meant; null for all. An observer for which it throws is dropped too.</param>
    public async Task Notify(Func<TObserver, Task> notification, Func<TObserver, bool>? predicate = null)
    {
        ArgumentNullException.ThrowIfNull(notification);
        var now = GetDateTime();
        Notification fanout = default;
        List<(TIdentity Id, Entry Entry, Task Call)> pending = [];
        try
        {
            foreach (var (id, entry) in Snapshot())
            {
                if (Begin(ref fanout, id, entry, now, notification, predicate) is not { IsCompletedSuccessfully: false } call)
                    continue;
                pending.Add((id, entry, call));
                // A task of the application goes on with its own code when the call ends, so the next one does not begin before.
                if (call is Task<NoResult> && pending.Count < MaxPending)
                    continue;
                fanout.Send();
                await End(pending);
            }
        }
        finally
        {
            fanout.Send();
        }

        await End(pending);
    }

    /// <summary>Calls the observers one after the other; drops expired ones and those whose call fails.</summary>
    /// <remarks>Calls with the same content to observers of one client or silo are one message.</remarks>
    /// <param name="notification">The call.</param>
    /// <param name="predicate">Which observers are meant; null for all. An observer for which it throws is dropped too.</param>
    public void Notify(Action<TObserver> notification, Func<TObserver, bool>? predicate = null)
    {
        ArgumentNullException.ThrowIfNull(notification);
        var now = GetDateTime();
        Notification fanout = default;
        Func<TObserver, Task> call = observer =>
        {
            notification(observer);
            return Task.CompletedTask;
        };
        try
        {
            foreach (var (id, entry) in Snapshot())
                Begin(ref fanout, id, entry, now, call, predicate);
        }
        finally
        {
            fanout.Send();
        }
    }

    /// <summary>The observers of this moment.</summary>
    public IEnumerator<TObserver> GetEnumerator() => Observers.Values.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>Calls one observer. Null, and it is dropped or left out, if there is no call.</summary>
    private Task? Begin(
        ref Notification fanout, TIdentity id, Entry entry, DateTime now, Func<TObserver, Task> notification,
        Func<TObserver, bool>? predicate)
    {
        if (IsExpired(entry, now))
        {
            Drop(id, entry, null);
            return null;
        }

        var isEntered = false;
        try
        {
            if (predicate is not null && !predicate(entry.Observer))
                return null;
            isEntered = fanout.TryEnter(entry.Observer);
            return Given.Task(notification(entry.Observer));
        }
        catch (Exception exception)
        {
            Drop(id, entry, exception);
            return null;
        }
        finally
        {
            if (isEntered)
                fanout.Leave();
        }
    }

    /// <summary>Waits for calls, and drops the observers of those that fail.</summary>
    private async Task End(List<(TIdentity Id, Entry Entry, Task Call)> pending)
    {
        foreach (var (id, entry, call) in pending)
        {
            try
            {
                await call;
            }
            catch (Exception exception)
            {
                Drop(id, entry, exception);
            }
        }

        pending.Clear();
    }

    private KeyValuePair<TIdentity, Entry>[] Snapshot()
    {
        lock (_gate)
            return [.. _entries];
    }

    private bool IsExpired(Entry entry, DateTime now) => entry.LastSeen + ExpirationDuration < now;

    /// <summary>Removes an observer unless it has subscribed again since it was looked at.</summary>
    private void Drop(TIdentity id, Entry entry, Exception? exception)
    {
        lock (_gate)
        {
            if (!_entries.TryGetValue(id, out var current) || !ReferenceEquals(current, entry))
                return;
            _entries.Remove(id);
        }

        if (exception is null)
            _log.LogDebug("Observer {Id} expired and was dropped.", id);
        else
            _log.LogWarning(exception, "Observer {Id} failed and was dropped.", id);
    }

    private sealed class Entry(TObserver observer, DateTime lastSeen)
    {
        internal TObserver Observer { get; } = observer;

        internal DateTime LastSeen { get; } = lastSeen;
    }
}
