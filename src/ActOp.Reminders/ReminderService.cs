using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using ActOp.Wire;
using Orleans;
using Orleans.Hosting;
using Orleans.Runtime;
using static Orleans.Reminders.Diagnostics.ReminderEvents;

namespace ActOp.Reminders;

/// <summary>
/// A silo's reminders: it runs those of the grains whose directory slots it owns. The table is the truth; this part keeps what is due soon
/// (<see cref="ReminderSchedule"/>) and sends the ticks.
/// </summary>
/// <remarks>
/// <para>Everything runs on the turns of this system target; <see cref="OnView"/> only posts. Holds one timer for all reminders, one read
/// of the table at a time, one call per tick under way, and one write per grain at a time. They end with the node: its background work is
/// cancelled, its timers end, its calls fail.</para>
/// <para>The table may be one of the application: each of its answers is awaited for the response timeout at most, and a row that cannot be
/// is left out. What fails: a read of the table is repeated with a pause that doubles up to a minute, and logged; meanwhile the ticks that
/// are known go on. A write fails to its caller. A tick fails to the log and to a counter, and the next one comes. A tick whose grain has
/// not answered the one before is left out. A message to another owner that is lost is made up for by
/// <see cref="ReminderSlots.LongestWait"/> and by the periodic read.</para>
/// </remarks>
internal sealed class ReminderService : IReminderTarget, IDisposable
{
    internal const string Name = "reminders";

    /// <summary>Ticks in one turn, so that other messages of the control stage are not held up.</summary>
    private const int TicksPerTurn = 128;

    /// <summary>The table is read in as many parts, so that a large one is not in memory at once.</summary>
    private const int Parts = 64;

    /// <summary>Last writes that are remembered, to tell them to a new owner.</summary>
    private const int MostRecent = 4096;

    private static readonly TimeSpan RecentTime = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan ShortestPause = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestPause = TimeSpan.FromMinutes(1);

    /// <summary>The clock of the machine may be set: the timer waits no longer before it looks.</summary>
    private static readonly TimeSpan LongestSleep = TimeSpan.FromSeconds(30);

    private readonly LocalNode _local;
    private readonly GrainFactory _factory;
    private readonly IReminderTable _table;
    private readonly ReminderOptions _options;
    private readonly ReminderLog _log;
    private readonly ReminderMetrics _metrics;
    private readonly NodeTime _time;
    private readonly TaskTime _taskTime;
    private readonly BackgroundPart _work;
    private readonly ReminderSlots _slots;
    private readonly ReminderSchedule _schedule;
    private readonly Dictionary<GrainId, Task> _writes = new(GrainsByRandomHash.Instance);
    private readonly Queue<(GrainId Grain, string Name, long At)> _recent = new();

    /// <summary>Reminders that were written while a read of the table is under way: what it finds of them may be older.</summary>
    private readonly HashSet<(GrainId, string)> _touched = new(GrainsByRandomHash.Instance);

    /// <summary>Reminders whose grains have not answered the last tick yet: until then they get no other one.</summary>
    private readonly HashSet<(GrainId, string)> _running = new(GrainsByRandomHash.Instance);

    /// <summary>Reminders that were due while their slot was not read, each with the ETag of that time.</summary>
    private readonly Dictionary<ReminderRecord, string?> _held = [];
    private TaskCompletionSource _wanted = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private TaskCompletionSource? _written;
    private ITimer? _timer;
    private readonly FailureCount _badRows = new();
    private int _reads;
    private long _lastRead;
    private bool _runs;
    private bool _isReading;

    internal ReminderService(
        LocalNode local, GrainFactory factory, IReminderTable table, ReminderOptions options, ReminderLog log, ReminderMetrics metrics,
        (NodeTime Timers, TaskTime Tasks) time)
    {
        (_local, _factory, _table, _options, _log, _metrics) = (local, factory, table, options, log, metrics);
        (_time, _taskTime) = time;
        _work = local.Background.Part("reminders");
        _slots = new ReminderSlots(local.Address);
        _schedule = new ReminderSchedule(options.ReminderLoadingWindow, Report);
        metrics.Observe(() => _schedule.Count);
    }

    /// <summary>The activation on whose turns this target runs; set before the start.</summary>
    internal Activation Host { get; set; } = null!;

    /// <summary>Whether all reminders of the slots of this silo are known. For tests.</summary>
    internal bool IsSettled => _runs && !_slots.IsLoading && !_slots.IsAwaiting;

    /// <summary>The number of reminders in memory. For tests.</summary>
    internal int Count => _schedule.Count;

    /// <summary>Ticks that their grains have not answered yet. For tests.</summary>
    internal int Running => _running.Count;

    /// <summary>Whether a read of the table is under way. For tests.</summary>
    internal bool IsReading => Volatile.Read(ref _isReading);

    /// <summary>The number of reads of the table that have ended well. For tests.</summary>
    internal int Reads { get; private set; }

    private long Now => _time.GetUtcNow().UtcTicks;

    /// <summary>Begins with the view of the start.</summary>
    internal void Start(View view) => Post(() =>
    {
        _runs = true;
        _timer = _time.CreateTimer(_ => Post(OnTimer), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Apply(view);
        _work.Run(ReadLoopAsync);
    });

    /// <summary>Any thread.</summary>
    internal void OnView(View view) => Post(() => Apply(view));

    /// <summary>Ends the ticks of this silo.</summary>
    public void Dispose() => Post(() =>
    {
        _runs = false;
        _timer?.Dispose();
        _held.Clear();
        _schedule.RemoveAll(static _ => true, LocalReminderStopReason.ServiceStopped);
    });

    public async ValueTask<ReminderHandle?> Register(ReminderRequest request)
    {
        if (!Owns(request.Grain))
            return null;
        var entry = new ReminderEntry
        {
            GrainId = request.Grain,
            ReminderName = request.Name,
            StartAt = new DateTime(Now, DateTimeKind.Utc) + request.DueTime,
            Period = request.Period,
        };
        await InOrder(request.Grain, async () =>
        {
            entry.ETag = await AnswerAsync(_table.UpsertRow(entry, _work.Stopping)) ?? throw new ReminderException(
                "The reminder " + request.Name + " of " + request.Grain + " was changed by another call at the same time.");
            Written(entry.GrainId, entry.ReminderName);
            if (Feed.IsWatched)
                Feed.Write(new Registered(entry.GrainId, entry.ReminderName, _local.Address));
            // A read of the table may have found it before this answer has come: then its first tick may have been sent.
            var isKnown = _schedule.FindRecord(entry.GrainId, entry.ReminderName)?.Entry.ETag == entry.ETag;
            var start = ReminderSchedule.StartOf(entry);
            if (Owns(entry.GrainId) && !isKnown)
                _schedule.Schedule(entry, start - 1, Now, _reads);
            else if (_runs && !Owns(entry.GrainId) && start <= _slots.SinceOf(SlotMap.SlotOf(entry.GrainId)))
                Send(entry, Now);
            Arm();
        });
        return ReminderHandle.HandleOf(entry);
    }

    public async ValueTask<bool?> Unregister(ReminderHandle reminder)
    {
        if (!Owns(reminder.GrainId))
            return null;
        var removed = false;
        await InOrder(reminder.GrainId, async () =>
        {
            removed = await AnswerAsync(_table.RemoveRow(
                reminder.GrainId, reminder.ReminderName, reminder.ETag!, _work.Stopping));
            if (!removed)
                return;
            Written(reminder.GrainId, reminder.ReminderName);
            _schedule.Remove(reminder.GrainId, reminder.ReminderName, LocalReminderStopReason.Unregistered);
            if (Feed.IsWatched)
                Feed.Write(new Unregistered(reminder.GrainId, reminder.ReminderName, _local.Address));
        });
        return removed;
    }

    public ValueTask Release(ReminderRelease release)
    {
        foreach (var (owner, passedOn) in _slots.OnRelease(release, Now))
            Send(owner, target => target.Release(passedOn));
        Wake();
        return default;
    }

    public ValueTask Changed(GrainId grain, string name)
    {
        _work.Follow(HearAsync(grain, name));
        return default;
    }

    private bool Owns(in GrainId grain) => _runs && _slots.Owns(SlotMap.SlotOf(grain));

    private void Apply(View view)
    {
        if (!_runs)
            return;
        var lost = _slots.OnView(view, Now);
        if (lost.Count > 0)
            _schedule.RemoveAll(record => !_slots.Owns(record.Slot), LocalReminderStopReason.RemovedFromRange);
        foreach (var (owner, release) in lost)
            Send(owner, target => target.Release(release));
        foreach (var (grain, name, _) in lost.Count > 0 ? _recent.ToArray() : [])
            TellOwner(grain, name);
        Wake();
    }

    /// <summary>The owner of a grain reads a reminder, if that is not this silo any more.</summary>
    private void TellOwner(GrainId grain, string name)
    {
        if (_slots.Map.OwnerOf(grain) is { } owner && !owner.Equals(_local.Address))
            Send(owner, target => target.Changed(grain, name));
    }

    private void Send(SiloAddress owner, Func<IReminderTarget, ValueTask> message) =>
        _work.Do(() => message(_factory.GetSystemTarget<IReminderTarget>(Name, owner)).GetAwaiter().GetResult());

    private void OnTimer()
    {
        if (!_runs)
            return;
        if (_slots.IsAwaiting)
        {
            _slots.OnTick(Now);
            Wake();
        }

        SendDue();
    }

    private void SendDue()
    {
        if (Invariant.AreChecked)
            Invariant.Holds(ReferenceEquals(CallHost.Current, Host));
        var now = Now;
        for (var sent = 0; sent < TicksPerTurn && _schedule.TakeDue(now, out var due) is { } record; sent++)
        {
            _metrics.Late(TimeSpan.FromTicks(now - due));
            // The next owner of a slot that was not read sends what was due since the slot came here.
            if (_slots.IsReady(record.Slot))
                Send(record.Entry, now);
            else
                _held[record] = record.Entry.ETag;
        }

        Arm();
    }

    /// <summary>
    /// Slots were read: what was due there meanwhile is sent once, unless it was ended or replaced since, or its next tick is due, too.
    /// </summary>
    private void SendHeld()
    {
        var now = Now;
        foreach (var (record, tag) in _held)
        {
            var isSame = record.Entry.ETag == tag && _schedule.FindRecord(record.Entry.GrainId, record.Entry.ReminderName) == record;
            if (isSame && _slots.IsReady(record.Slot) && record.Due > now)
                Send(record.Entry, now);
            if (!isSame || _slots.IsReady(record.Slot))
                _held.Remove(record);
        }
    }

    private void Send(ReminderEntry entry, long now)
    {
        if (_running.Add((entry.GrainId, entry.ReminderName)))
        {
            _work.Follow(SendAsync(entry, now));
            return;
        }

        _metrics.Skipped();
        _log.TickLeftOut(entry.ReminderName, entry.GrainId);
    }

    private async Task SendAsync(ReminderEntry entry, long now)
    {
        var status = new TickStatus(
            new DateTime(ReminderSchedule.StartOf(entry), DateTimeKind.Utc), entry.Period, new DateTime(now, DateTimeKind.Utc));
        if (Feed.IsWatched)
            Feed.Write(new TickFiring(entry.GrainId, entry.ReminderName, status, _local.Address));
        try
        {
            var grain = (IRemindable)_factory.Create(entry.GrainId, typeof(IReminderReceiver));
            await grain.ReceiveReminder(entry.ReminderName, status);
            _metrics.Sent();
            if (Feed.IsWatched)
                Feed.Write(new TickCompleted(entry.GrainId, entry.ReminderName, status, _local.Address));
        }
        catch (Exception exception)
        {
            _metrics.Failed();
            if (Feed.IsWatched)
                Feed.Write(new TickFailed(entry.GrainId, entry.ReminderName, status, exception, _local.Address));
            if (!_work.Stopping.IsCancellationRequested)
                _log.TickFailed(entry.ReminderName, entry.GrainId, exception);
        }
        finally
        {
            if (Invariant.AreChecked)
                Invariant.Holds(_running.Contains((entry.GrainId, entry.ReminderName)));
            _running.Remove((entry.GrainId, entry.ReminderName));
        }
    }

    /// <summary>Sets the timer to the next tick, or to the next look at what else is due.</summary>
    private void Arm()
    {
        if (!_runs)
            return;
        var sleep = LongestSleep;
        if (_schedule.NextDue is { } due)
            sleep = TimeSpan.FromTicks(Math.Clamp(due - Now, 0, sleep.Ticks));
        if (_slots.AwaitedUntil is { } until)
            sleep = TimeSpan.FromTicks(Math.Clamp(until - Now, 0, sleep.Ticks));

        _timer!.Change(sleep, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Slots are to be read, or the time of the next look has changed.</summary>
    private void Wake()
    {
        if (_slots.IsLoading)
            _wanted.TrySetResult();
        Arm();
    }

    private async Task ReadLoopAsync(CancellationToken stopping)
    {
        var pause = ShortestPause;
        while (_runs && !stopping.IsCancellationRequested)
        {
            _wanted = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            if (!await TryReadAsync(pause))
            {
                await PauseAsync(pause, stopping);
                pause = pause + pause < LongestPause ? pause + pause : LongestPause;
                continue;
            }

            pause = ShortestPause;
            if (!_slots.IsLoading)
            {
                await _wanted.Task.WaitAsync(_options.RefreshReminderListPeriod, _taskTime, stopping)
                    .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
            }
        }
    }

    /// <summary>
    /// The pause after a failed read. It ends early, but not before the shortest one, if a write shows that the table is there: the ticks
    /// of what was written wait for a read.
    /// </summary>
    private async Task PauseAsync(TimeSpan pause, CancellationToken stopping)
    {
        _written = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await Task.Delay(ShortestPause, _taskTime, stopping);
        await _written.Task.WaitAsync(pause - ShortestPause, _taskTime, stopping)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
    }

    /// <summary>Reads the table, keeps what is due soon, and forgets what is no longer there. False if a read failed.</summary>
    private async Task<bool> TryReadAsync(TimeSpan pause)
    {
        var (began, slots) = (Now, _slots.Readable());
        Invariant.Holds(!_isReading && _touched.Count == 0);
        var read = ++_reads;
        _isReading = true;
        try
        {
            await ReadPartsAsync(slots, read);
            _schedule.RemoveAll(record => record.Read != read && slots.Contains(record.Slot)
                && !_touched.Contains((record.Entry.GrainId, record.Entry.ReminderName)), LocalReminderStopReason.RemovedFromTable);
            _slots.OnRead(slots);
            SendHeld();
            _lastRead = began;
            Reads++;
            Arm();
            return true;
        }
        catch (Exception exception)
        {
            NotRead(pause, exception);
            return false;
        }
        finally
        {
            _isReading = false;
            _touched.Clear();
        }
    }

    private async Task ReadPartsAsync(SlotSet slots, int read)
    {
        if (_table is ISlotReminderTable { FindsSlots: true } bySlot)
        {
            await ReadSlotsAsync(bySlot, slots, read);
            return;
        }

        const uint size = (uint)((1L << 32) / Parts);
        for (var part = 0; part < Parts && !slots.IsEmpty; part++)
        {
            var rows = await AnswerAsync(_table.ReadRows(
                unchecked(((uint)part * size) - 1), ((uint)part * size) + (size - 1), _work.Stopping));
            foreach (var entry in rows?.Reminders ?? throw new ReminderException("The table " + _table.GetType() + " has returned null."))
                OnRow(entry, slots, read);
        }
    }

    /// <summary>Only the rows of the slots, as many slots at once as a part of the table has.</summary>
    private async Task ReadSlotsAsync(ISlotReminderTable table, SlotSet slots, int read)
    {
        List<int> some = new(SlotMap.SlotCount / Parts);
        for (var slot = slots.Next(-1); slot >= 0;)
        {
            for (some.Clear(); slot >= 0 && some.Count < some.Capacity; slot = slots.Next(slot))
                some.Add(slot);
            foreach (var entry in (await AnswerAsync(table.ReadSlots([.. some]))).Reminders)
                OnRow(entry, slots, read);
        }
    }

    private Task<T> AnswerAsync<T>(
        Task<T> answer, [System.Runtime.CompilerServices.CallerArgumentExpression(nameof(answer))] string call = "")
    {
        var given = Given.Task(answer, call);
        return given.IsCompleted ? given : given.WaitAsync(_local.ResponseTimeout, _taskTime, _work.Stopping);
    }

    /// <summary>One row that was read.</summary>
    private void OnRow(ReminderEntry? entry, SlotSet slots, int read)
    {
        if (entry is null || entry.GrainId.IsDefault || string.IsNullOrEmpty(entry.ReminderName) || entry.Period < TimeSpan.Zero)
        {
            if (_badRows.IsTold(out var count))
                _log.RowLeftOut(entry?.GrainId ?? default, entry?.ReminderName ?? "", count);
            return;
        }

        var slot = SlotMap.SlotOf(entry.GrainId);
        if (!_runs || !slots.Contains(slot) || !_slots.Owns(slot) || _touched.Contains((entry.GrainId, entry.ReminderName)))
            return;
        var (now, known) = (Now, _schedule.FindRecord(entry.GrainId, entry.ReminderName));
        if (known is not null && known.Entry.ETag == entry.ETag)
            _schedule.Keep(known, _held.ContainsKey(known), now, read);
        else
            _schedule.Schedule(entry, SentUntil(slot, known is not null, now), now, read);
    }

    /// <summary>
    /// Until when the ticks of a reminder have been sent: by the owner before, if the slot is new here, or until the end of the window of
    /// the last read, if it was not near enough then.
    /// </summary>
    private long SentUntil(int slot, bool isKnown, long now)
    {
        if (!_slots.IsReady(slot))
            return _slots.SinceOf(slot);
        return isKnown || _lastRead == 0 ? now : Math.Min(now, _lastRead + _options.ReminderLoadingWindow.Ticks);
    }

    /// <summary>
    /// Another silo has written or removed a reminder. If it cannot be read, all are, as soon as that can be done. One that is not known
    /// here is left to the read of its slot while the owner before has not said how far its ticks were sent.
    /// </summary>
    private async Task HearAsync(GrainId grain, string name)
    {
        try
        {
            await ReadOneAsync(grain, name);
        }
        catch (Exception exception)
        {
            NotRead(TimeSpan.Zero, exception);
            _wanted.TrySetResult();
        }
    }

    /// <summary>A silo that stops needs no reminders, and the failure is no error.</summary>
    private void NotRead(TimeSpan pause, Exception reason)
    {
        if (_work.Stopping.IsCancellationRequested)
            return;
        _metrics.ReadFailed();
        _log.ReadFailed(pause, reason);
    }

    private async Task ReadOneAsync(GrainId grain, string name)
    {
        if (!Owns(grain))
            return;
        await InOrder(grain, async () =>
        {
            var entry = await AnswerAsync(_table.ReadRow(grain, name, _work.Stopping));
            var slot = SlotMap.SlotOf(grain);
            if (!Owns(grain))
                return;
            Touch(grain, name);
            var known = _schedule.FindRecord(grain, name);
            if (entry is null)
                _schedule.Remove(grain, name, LocalReminderStopReason.RemovedFromTable);
            else if (known is null && !_slots.IsAwaited(slot))
                _schedule.Schedule(entry, Math.Max(_slots.SinceOf(slot), Now - RecentTime.Ticks), Now, _reads);
            else if (known is not null && known.Entry.ETag != entry.ETag)
                _schedule.Schedule(entry, Now, Now, _reads);
            Arm();
        });
    }

    /// <summary>
    /// The table has changed by this silo. A new owner, which may have read it before, is told: now, or when the view changes.
    /// </summary>
    private void Written(GrainId grain, string name)
    {
        Touch(grain, name);
        _written?.TrySetResult();
        var now = Now;
        _recent.Enqueue((grain, name, now));
        while (_recent.Count > MostRecent || now - _recent.Peek().At > RecentTime.Ticks)
            _recent.Dequeue();
        TellOwner(grain, name);
    }

    private void Touch(GrainId grain, string name)
    {
        if (_isReading)
            _touched.Add((grain, name));
    }

    /// <summary>
    /// One write after the other for each grain: the last one that the table has taken is the last one that is scheduled.
    /// </summary>
    private async Task InOrder(GrainId grain, Func<Task> write)
    {
        var mine = AfterAsync(_writes.GetValueOrDefault(grain), write);
        _writes[grain] = mine;
        try
        {
            await mine;
        }
        finally
        {
            if (_writes.TryGetValue(grain, out var last) && ReferenceEquals(last, mine))
                _writes.Remove(grain);
        }
    }

    private static async Task AfterAsync(Task? before, Func<Task> write)
    {
        if (before is not null)
            await before.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        await write();
    }

    /// <summary>Tells the observers of reminders that a wait for ticks has begun, or why it has ended.</summary>
    private void Report(ReminderRecord record, LocalReminderStopReason? ended)
    {
        if (!Feed.IsWatched)
            return;
        var (grain, name) = (record.Entry.GrainId, record.Entry.ReminderName);
        Feed.Write(ended is { } reason
            ? new LocalReminderStopped(grain, name, record, reason, _local.Address)
            : new LocalReminderStarted(grain, name, record, _local.Address));
    }

    private void Post(Action step) => Host.Enqueue(new ActionItem(static state => ((Action)state!)(), step));
}
