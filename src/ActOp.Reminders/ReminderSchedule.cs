using ActOp.Runtime.Directory;
using ActOp.Wire;
using Orleans;
using Orleans.Runtime;
using static Orleans.Reminders.Diagnostics.ReminderEvents;

namespace ActOp.Reminders;

/// <summary>
/// The reminders that one silo keeps in memory, in the order of their next ticks. Pure: the time comes with each call, in ticks of 100
/// ns, UTC. Owns one record per reminder that is due within the window, or was since the last read; those that are due later stay in the
/// table until a read finds them near enough. Runs on the turns of <see cref="ReminderService"/>.
/// </summary>
/// <remarks>
/// The queue may hold outdated entries of records that were replaced; they are recognised by their number, and the queue is rebuilt before
/// there are more of them than records.
/// </remarks>
/// <param name="window">How far ahead reminders are kept.</param>
/// <param name="report">Is told of each record that is added or replaced, with null, and of each that is removed, with the reason.</param>
internal sealed class ReminderSchedule(TimeSpan window, Action<ReminderRecord, LocalReminderStopReason?>? report = null)
{
    private const int FewQueued = 1024;

    private readonly Dictionary<(GrainId, string), ReminderRecord> _records = new(GrainsByRandomHash.Instance);
    private readonly PriorityQueue<(ReminderRecord Record, int QueueNumber), long> _queue = new();

    /// <summary>The number of reminders in memory.</summary>
    internal int Count => _records.Count;

    /// <summary>Entries of the queue, outdated ones too. For tests.</summary>
    internal int Queued => _queue.Count;

    /// <summary>When the next tick is due; null if none is.</summary>
    internal long? NextDue
    {
        get
        {
            while (_queue.TryPeek(out var next, out var due))
            {
                if (next.Record.QueueNumber == next.QueueNumber)
                    return due;
                _queue.Dequeue();
            }

            return null;
        }
    }

    /// <summary>The first tick of a reminder that is due after a time.</summary>
    internal static long DueAfter(ReminderEntry entry, long after)
    {
        var start = StartOf(entry);
        if (after < start)
            return start;
        var period = Math.Max(entry.Period.Ticks, 1);
        return start + ((((after - start) / period) + 1) * period);
    }

    internal static long StartOf(ReminderEntry entry) =>
        (entry.StartAt.Kind == DateTimeKind.Local ? entry.StartAt.ToUniversalTime() : entry.StartAt).Ticks;

    internal ReminderRecord? FindRecord(GrainId grain, string name) => _records.GetValueOrDefault((grain, name));

    /// <summary>Keeps a reminder, in place of one of that name, if its first tick after a time is within the window.</summary>
    internal void Schedule(ReminderEntry entry, long after, long now, int read)
    {
        var due = DueAfter(entry, after);
        if (due - now > window.Ticks)
        {
            Remove(entry.GrainId, entry.ReminderName, LocalReminderStopReason.RemovedFromTable);
            return;
        }

        if (!_records.TryGetValue((entry.GrainId, entry.ReminderName), out var record))
            _records.Add((entry.GrainId, entry.ReminderName), record = new ReminderRecord());
        else if (record.Entry.ETag != entry.ETag)
            report?.Invoke(record, LocalReminderStopReason.Replaced);
        var isNew = record.Entry?.ETag != entry.ETag || record.QueueNumber == 0;
        record.Entry = entry;
        record.Read = read;
        if (isNew)
            report?.Invoke(record, null);
        Enqueue(record, due);
    }

    internal void Remove(GrainId grain, string name, LocalReminderStopReason reason)
    {
        if (!_records.Remove((grain, name), out var record))
            return;
        record.QueueNumber = 0;
        report?.Invoke(record, reason);
    }

    internal void RemoveAll(Predicate<ReminderRecord> match, LocalReminderStopReason reason)
    {
        foreach (var (key, record) in _records)
        {
            if (match(record))
                Remove(key.Item1, key.Item2, reason);
        }
    }

    /// <summary>
    /// A read of the table has found a reminder unchanged. It is forgotten if its next tick is after the window and none is held. Not
    /// before such a read: one that finds a reminder which is not in memory takes it that no tick was sent since the end of the window of
    /// the read before.
    /// </summary>
    internal void Keep(ReminderRecord record, bool isHeld, long now, int read)
    {
        record.Read = read;
        if (!isHeld && record.Due - now > window.Ticks)
            Remove(record.Entry.GrainId, record.Entry.ReminderName, LocalReminderStopReason.RemovedFromTable);
    }

    /// <summary>
    /// The next reminder whose tick is due, or null, and when it was due. Its next tick is the first one after <paramref name="now"/>:
    /// ticks that were missed meanwhile are not made up for.
    /// </summary>
    internal ReminderRecord? TakeDue(long now, out long due)
    {
        due = 0;
        if (NextDue is not { } next || next > now)
            return null;
        due = next;
        var record = _queue.Dequeue().Record;
        Invariant.Holds(record.QueueNumber != 0);
        Enqueue(record, DueAfter(record.Entry, now));
        return record;
    }

    private void Enqueue(ReminderRecord record, long due)
    {
        record.QueueNumber = ++_lastQueueNumber;
        record.Due = due;
        _queue.Enqueue((record, record.QueueNumber), due);
        Invariant.Holds(_queue.Count >= _records.Count);
        if (_queue.Count <= (2 * _records.Count) + FewQueued)
            return;
        var valid = _queue.UnorderedItems.Where(static item => item.Element.Record.QueueNumber == item.Element.QueueNumber).ToArray();
        Invariant.Holds(valid.Length == _records.Count);
        _queue.Clear();
        _queue.EnqueueRange(valid);
    }

    private int _lastQueueNumber;
}

/// <summary>One reminder in memory.</summary>
internal sealed class ReminderRecord
{
    internal ReminderEntry Entry { get; set; } = null!;

    /// <summary>When its next tick is due.</summary>
    internal long Due { get; set; }

    /// <summary>The number of its valid entry in the queue; 0 for none.</summary>
    internal int QueueNumber { get; set; }

    /// <summary>The number of the read of the table that has seen it last.</summary>
    internal int Read { get; set; }

    internal int Slot => SlotMap.SlotOf(Entry.GrainId);
}
