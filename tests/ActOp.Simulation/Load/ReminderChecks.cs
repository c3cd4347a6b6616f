using ActOp.Reminders;
using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation.Load;

/// <summary>What must hold of the ticks of reminders, by what the table has and by what grains were told.</summary>
internal sealed class ReminderChecks(World.World world, Ledger ledger, Faults faults, SharedReminders table, TimeSpan refresh)
{
    /// <summary>What separates silos, or stops one without its end.</summary>
    private static readonly FaultKind[] Separating =
    [
        FaultKind.Reset, FaultKind.HalfOpen, FaultKind.BlackHole, FaultKind.SlowLink, FaultKind.Partition, FaultKind.OneWayPartition,
        FaultKind.Isolation, FaultKind.ShortPause, FaultKind.LongPause, FaultKind.SlowMachine, FaultKind.Descriptors,
        FaultKind.TableSlow, FaultKind.TableRefuses, FaultKind.TableLosesAnswers, FaultKind.TableConflicts, FaultKind.TableCutOff,
        FaultKind.Strangers,
    ];

    /// <summary>From when a tick is due to its grain: timers, queues, and the start of the grain.</summary>
    private const long Grace = 3 * Pump.Second;

    /// <summary>A view changes, the owner before is waited for, and the table is read, 64 parts of which may be slow.</summary>
    private const long Recovery = 60 * Pump.Second;

    /// <summary>In a run without faults, the least delay of eight ticks in a row is that of a timer.</summary>
    private const long LongestDelay = 10 * Pump.Millisecond;

    private readonly Dictionary<ReminderVersion, Ticks> _ticks = [];
    private readonly Dictionary<(GrainId, string), (long Since, int Count, long EndedAt)> _running = [];
    private readonly Dictionary<GrainId, Occupation> _occupied = [];
    private long _disturbedAt;
    private long _watchedAt;
    private long _viewChangedAt = long.MinValue / 2;

    /// <summary>
    /// After a failure of the table, the next read begins a minute later at most, a change that a silo was not told of is read after the
    /// time of a refresh, and the read takes a while.
    /// </summary>
    internal TimeSpan Lag => refresh + TimeSpan.FromSeconds(90);

    internal void Begin(Machine machine)
    {
        if (machine.Node.Cluster is { } cluster)
            cluster.ViewChanged += (_, _, _) => _viewChangedAt = world.Pump.Now;
    }

    internal void Watch()
    {
        var isDisturbed = table.IsTroubled || _viewChangedAt >= _watchedAt
            || world.Machines.Any(static machine => !machine.IsRunning || machine.State != MachineState.Up)
            || faults.Done.Any(fault => fault.Until >= _watchedAt);
        _watchedAt = world.Pump.Now;
        if (isDisturbed)
            _disturbedAt = world.Pump.Now;
        foreach (var version in table.Rows)
        {
            if (IsSilent(version))
                ledger.Accuse("silent reminder", Tell(version) + " has not ticked since " + new TimeSpan(LastOf(version)) + ".");
        }
    }

    internal bool HaveAllTickedSince(long time) => table.Rows.All(version => LastOf(version) > time);

    internal string TellSilent(long time) =>
        string.Join("; ", table.Rows.Where(version => LastOf(version) <= time).Select(Tell)) + " do not tick though nothing is wrong.";

    internal void IsSet(GrainId grain, ReminderHandle reminder)
    {
        if (VersionOf(reminder) is not { } version)
        {
            ledger.Accuse("lost reminder", grain + " was told that " + reminder.ReminderName + " is registered; the table never had it.");
            return;
        }

        version.AcknowledgedAt ??= world.Pump.Now;
        foreach (var other in table.Versions)
        {
            if (other.EndedAt <= version.Since && other.Entry.GrainId == grain && other.Entry.ReminderName == reminder.ReminderName)
                other.EndAcknowledgedAt ??= world.Pump.Now;
        }
    }

    internal void IsUnset(GrainId grain, ReminderHandle reminder)
    {
        if (VersionOf(reminder) is not { EndedAt: not null } version)
            ledger.Accuse("lost reminder", grain + " was told that " + reminder.ReminderName + " has ended; the table still has it.");
        else
            version.EndAcknowledgedAt ??= world.Pump.Now;
    }

    internal IDisposable Occupy(GrainId grain, Machine machine) => _occupied[grain] = new Occupation(world, machine);

    internal void TickBegins(GrainId grain, string name, TickStatus status, Machine machine)
    {
        ledger.Count("ticks");
        var version = table.Versions.FindLast(one => one.Entry.StartAt == status.FirstTickTime && one.Entry.GrainId == grain
            && one.Entry.ReminderName == name && one.Entry.Period == status.Period);
        if (version is null)
        {
            ledger.Accuse("unknown reminder", grain + " has got a tick of " + name + ", which was never registered so.");
            return;
        }

        world.Pump.Note(machine, EventKind.Check, "tick " + grain + " " + name + " " + version.Entry.ETag);
        CheckBeside(grain, name);
        CheckEnd(version);
        var late = (status.CurrentTickTime - status.FirstTickTime).Ticks;
        if (late < 0)
            ledger.Accuse("early tick", Tell(version) + " ticks " + TimeSpan.FromTicks(-late) + " before it begins.");
        var ticks = TicksOf(version);
        if (!ticks.Seen.Add(late / status.Period.Ticks))
            Double(version, late / status.Period.Ticks);
        ticks.Last = world.Pump.Now;
        CheckDrift(version, ticks, late % status.Period.Ticks);
    }

    internal void TickEnds(GrainId grain, string name)
    {
        var (since, count, _) = _running[(grain, name)];
        _running[(grain, name)] = (since, count - 1, world.Pump.Now);
    }

    private ReminderVersion? VersionOf(ReminderHandle reminder) =>
        int.TryParse(reminder.ETag, System.Globalization.CultureInfo.InvariantCulture, out var number) && number <= table.Versions.Count
            ? table.Versions[number - 1] : null;

    private Ticks TicksOf(ReminderVersion version)
    {
        if (!_ticks.TryGetValue(version, out var ticks))
            _ticks.Add(version, ticks = new Ticks());
        return ticks;
    }

    private long LastOf(ReminderVersion version) => _ticks.TryGetValue(version, out var ticks) ? ticks.Last : 0;

    /// <summary>A grain gets no tick while it has not answered the one before, unless another silo has begun with the reminder.</summary>
    private void CheckBeside(GrainId grain, string name)
    {
        var now = world.Pump.Now;
        var (since, count, ended) = _running.GetValueOrDefault((grain, name));
        if (count > 0 && _viewChangedAt < since && now - since < world.Settings.ResponseTimeout.Ticks
            && !faults.Any(since - Recovery, Separating) && !HasLost(since))
        {
            ledger.Accuse("ticks at once", grain + " gets a tick of " + name + " while it has not answered the one of "
                + new TimeSpan(since) + ".");
        }

        _running[(grain, name)] = (now, count + 1, ended);
    }

    /// <summary>A silo has ended, with what it knew of ticks that run.</summary>
    private bool HasLost(long since) => faults.Any(since - Recovery, FaultKind.Crash, FaultKind.PowerLoss, FaultKind.Restart,
        FaultKind.RestartAll);

    private void CheckEnd(ReminderVersion version)
    {
        if (version.EndedAt is not { } ended)
            return;
        var way = world.Settings.ResponseTimeout.Ticks + Grace;
        var limit = version.EndAcknowledgedAt is { } told && _disturbedAt < version.Since
            ? told + way : Math.Max(version.EndAcknowledgedAt ?? ended, _disturbedAt) + Lag.Ticks + way;
        ledger.Count("ticks after the end");
        if (world.Pump.Now > limit)
            ledger.Accuse("ended reminder", Tell(version) + " still ticks, though it has ended at " + new TimeSpan(ended) + ".");
    }

    /// <summary>Silos that are separated from each other may both send a tick.</summary>
    private void Double(ReminderVersion version, long number)
    {
        if (faults.Any(world.Pump.Now - Recovery, Separating))
            ledger.Count("excused: tick twice");
        else
            ledger.Accuse("tick twice", "The tick " + number + " of " + Tell(version) + " comes again.");
    }

    private void CheckDrift(ReminderVersion version, Ticks ticks, long delay)
    {
        ticks.Delays.Enqueue(delay);
        if (ticks.Delays.Count <= 8)
            return;
        ticks.Delays.Dequeue();
        if (world.IsCalm && ticks.Delays.Min() > LongestDelay)
            ledger.Accuse("late reminder", "All ticks of " + Tell(version) + " are late by " + new TimeSpan(ticks.Delays.Min()) + ".");
    }

    /// <summary>A reminder in the table must have ticked, as nothing has been wrong for long enough.</summary>
    private bool IsSilent(ReminderVersion version)
    {
        var (entry, now) = (version.Entry, world.Pump.Now);
        var call = _occupied.GetValueOrDefault(entry.GrainId);
        var tick = _running.GetValueOrDefault((entry.GrainId, entry.ReminderName));
        if (tick.Count > 0 || call is { GoesOn: true })
            return false;
        var start = now + (entry.StartAt - world.Silos.First().Clock.GetUtcNow().UtcDateTime).Ticks;
        var known = version.AcknowledgedAt ?? version.Since + Lag.Ticks;
        var recovery = table.HasFailed ? Recovery + Lag.Ticks : !world.IsCalm ? Recovery : table.WasSlow ? Recovery / 2 : Pump.Second * 10;
        var expected = Math.Max(Math.Max(known, start), _disturbedAt + recovery);
        // The tick that is due while the one before runs is left out.
        expected = Math.Max(expected, Math.Max(call?.EndedAt ?? 0, tick.EndedAt));
        return now - Math.Max(expected, LastOf(version)) > entry.Period.Ticks + Grace;
    }

    private static string Tell(ReminderVersion version) => "The reminder " + version.Entry.ReminderName + " of " + version.Entry.GrainId
        + " (version " + version.Entry.ETag + ", period " + version.Entry.Period + ", written " + new TimeSpan(version.Since) + ")";

    /// <summary>A call of a grain that waits for the table, or a tick that takes long: ticks wait behind it, or are left out.</summary>
    private sealed class Occupation(World.World world, Machine machine) : IDisposable
    {
        private bool _hasEnded;

        internal bool GoesOn => !_hasEnded && !machine.IsDead;

        internal long EndedAt { get; private set; }

        public void Dispose() => (_hasEnded, EndedAt) = (true, world.Pump.Now);
    }

    /// <summary>The ticks of one version.</summary>
    private sealed class Ticks
    {
        internal HashSet<long> Seen { get; } = [];

        internal Queue<long> Delays { get; } = [];

        internal long Last { get; set; }
    }
}
