using System.Collections;
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

    /// <summary>Calls the observers one after the other and waits for each; drops expired ones and those whose call fails.</summary>
    /// <param name="notification">The call.</param>
    /// <param name="predicate">Which observers are meant; null for all. An observer for which it throws is dropped too.</param>
    public async Task Notify(Func<TObserver, Task> notification, Func<TObserver, bool>? predicate = null)
    {
        ArgumentNullException.ThrowIfNull(notification);
        var now = GetDateTime();
        foreach (var (id, entry) in Snapshot())
        {
            if (IsExpired(entry, now))
            {
                Drop(id, entry, null);
                continue;
            }

            try
            {
                if (predicate is null || predicate(entry.Observer))
                    await notification(entry.Observer);
            }
            catch (Exception exception)
            {
                Drop(id, entry, exception);
            }
        }
    }

    /// <summary>Calls the observers one after the other; drops expired ones and those whose call fails.</summary>
    /// <param name="notification">The call.</param>
    /// <param name="predicate">Which observers are meant; null for all. An observer for which it throws is dropped too.</param>
    public void Notify(Action<TObserver> notification, Func<TObserver, bool>? predicate = null)
    {
        ArgumentNullException.ThrowIfNull(notification);
        var now = GetDateTime();
        foreach (var (id, entry) in Snapshot())
        {
            if (IsExpired(entry, now))
            {
                Drop(id, entry, null);
                continue;
            }

            try
            {
                if (predicate is null || predicate(entry.Observer))
                    notification(entry.Observer);
            }
            catch (Exception exception)
            {
                Drop(id, entry, exception);
            }
        }
    }

    /// <summary>The observers of this moment.</summary>
    public IEnumerator<TObserver> GetEnumerator() => Observers.Values.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

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
