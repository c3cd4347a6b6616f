namespace ActOp.Testing.Simulated;

/// <summary>What can go wrong.</summary>
internal enum FaultKind
{
    Reset,
    HalfOpen,
    BlackHole,
    SlowLink,
    Partition,
    OneWayPartition,
    Isolation,
    Crash,
    PowerLoss,
    ShortPause,
    LongPause,
    Restart,
    ClockJump,
    SlowMachine,

    /// <summary>All silos crash at once; once in a run.</summary>
    RestartAll,

    /// <summary>Hooks of grains do not end and take no notice of their tokens.</summary>
    HookHangs,
    HookThrows,

    /// <summary>Connections to a silo whose other end says nothing.</summary>
    Strangers,

    /// <summary>A machine runs out of descriptors: dialling and waiting for a new connection throw.</summary>
    Descriptors,
    TableSlow,
    TableRefuses,
    TableLosesAnswers,
    TableConflicts,
    TableCutOff,
}

/// <summary>One thing that went wrong.</summary>
/// <param name="Kind">What.</param>
/// <param name="Time">When it began.</param>
/// <param name="Host">Whom it concerned; 0 for the table.</param>
/// <param name="Other">The other end, or 0 for everybody.</param>
internal sealed record Fault(FaultKind Kind, long Time, int Host, int Other)
{
    /// <summary>When it was over; the end of time before that.</summary>
    internal long Until { get; set; } = long.MaxValue;
}

/// <summary>How often faults come and how long they stay, where the run does not draw it.</summary>
/// <param name="Interval">Mean time between two faults, in ticks; null to draw it.</param>
/// <param name="Length">Mean length of a fault, in ticks; null to draw it.</param>
/// <param name="LongIsolations">Share of the isolations that are eight times as long.</param>
/// <param name="TableCuts">Share of the isolations that cut the silo off from the table, too.</param>
internal sealed record FaultHabits(long? Interval = null, long? Length = null, double LongIsolations = 0.3, double TableCuts = 0);

/// <summary>Draws for one run how often faults come and how long they stay, and makes them.</summary>
/// <remarks>Owns what was done to the machines, the network and the table, and its mending. Only the thread of the pump uses it.</remarks>
internal sealed class Faults
{
    private readonly SimulatedWorld _world;
    private readonly FaultHabits _habits;
    private readonly Dice _dice;
    private readonly IReadOnlyList<FaultKind> _kinds;
    private readonly long _interval;
    private readonly long _length;
    private readonly int _mostDown;
    private FaultKind? _hooks;
    private bool _isOver;

    internal Faults(SimulatedWorld world, IReadOnlyList<FaultKind> kinds, FaultHabits habits)
    {
        _world = world;
        _kinds = kinds;
        _habits = habits;
        _dice = world.Dice.Fork("faults");
        _interval = _dice.Pick<long>([500, 2_000, 5_000, 10_000]) * Pump.Millisecond;
        _length = _dice.Pick<long>([500, 2_000, 8_000]) * Pump.Millisecond;
        _interval = habits.Interval ?? _interval;
        _length = habits.Length ?? _length;
        _mostDown = Math.Max(1, (world.Settings.Silos - 1) / 2);
    }

    /// <summary>All that was done, in order.</summary>
    internal List<Fault> Done { get; } = [];

    internal IReadOnlyList<FaultKind> Kinds => _kinds;

    internal void Begin()
    {
        if (_kinds.Count > 0)
            _world.Pump.After(_dice.Exponential(_interval), null, EventKind.Fault, "next", Strike);
    }

    /// <summary>Nothing goes wrong any more, and everything that was wrong is mended; silos that are down come back.</summary>
    internal void End()
    {
        _isOver = true;
        _world.Heal();
        foreach (var fault in Done)
            fault.Until = Math.Min(fault.Until, _world.Pump.Now);
        foreach (var machine in _world.Machines.ToArray())
            Return(machine);
    }

    /// <summary>True when a fault of one of the kinds concerned the host between the times.</summary>
    internal bool Concerned(int host, long from, params ReadOnlySpan<FaultKind> kinds)
    {
        foreach (var fault in Done)
        {
            if ((fault.Host == host || fault.Other == host) && fault.Until >= from && kinds.Contains(fault.Kind))
                return true;
        }

        return false;
    }

    /// <summary>True when there was a fault of one of the kinds after the time, wherever.</summary>
    internal bool Any(long from, params ReadOnlySpan<FaultKind> kinds)
    {
        foreach (var fault in Done)
        {
            if (fault.Until >= from && kinds.Contains(fault.Kind))
                return true;
        }

        return false;
    }

    /// <summary>When the last fault of these kinds that concerned the host, or the table, was over; now while it lasts.</summary>
    internal long EndOf(int host, params ReadOnlySpan<FaultKind> kinds)
    {
        var end = long.MinValue / 2;
        foreach (var fault in Done)
        {
            if ((fault.Host == host || fault.Other == host || fault.Host == 0) && kinds.Contains(fault.Kind))
                end = Math.Max(end, Math.Min(fault.Until, _world.Pump.Now));
        }

        return end;
    }

    /// <summary>What becomes of a hook that runs now; null when it is spared.</summary>
    internal FaultKind? HookTrouble(Dice dice) => _hooks is { } kind && !_isOver && dice.Chance(0.2) ? kind : null;

    /// <summary>Kills a silo at this very time, if it may be lost.</summary>
    internal bool Crash(Machine machine)
    {
        if (_isOver || !MayLose(machine))
            return false;
        Make(new Fault(FaultKind.Crash, _world.Pump.Now, machine.Host, 0), machine, null);
        return true;
    }

    /// <summary>Ends all silos at this very time, if anything may still go wrong.</summary>
    internal bool EndAll()
    {
        if (_isOver)
            return false;
        Make(new Fault(FaultKind.RestartAll, _world.Pump.Now, 0, 0), null, null);
        return true;
    }

    private void Strike()
    {
        if (_isOver)
            return;
        _world.Pump.After(_dice.Exponential(_interval), null, EventKind.Fault, "next", Strike);
        var kind = _dice.Pick(_kinds);
        var machine = _dice.Pick<Machine>([.. _world.Machines]);
        var other = _dice.Pick<Machine>([.. _world.Machines]);
        if (other == machine
            && kind is FaultKind.Reset or FaultKind.HalfOpen or FaultKind.BlackHole or FaultKind.SlowLink or FaultKind.Partition
                or FaultKind.OneWayPartition)
        {
            return;
        }

        if (kind is FaultKind.Crash or FaultKind.PowerLoss or FaultKind.Restart or FaultKind.LongPause or FaultKind.ShortPause
            && !MayLose(machine))
        {
            return;
        }

        if (kind == FaultKind.RestartAll && Done.Any(static fault => fault.Kind == FaultKind.RestartAll))
            return;
        if ((kind >= FaultKind.TableSlow && kind != FaultKind.TableCutOff)
            || kind is FaultKind.RestartAll or FaultKind.HookHangs or FaultKind.HookThrows)
        {
            Make(new Fault(kind, _world.Pump.Now, 0, 0), null, null);
        }
        else
        {
            Make(new Fault(kind, _world.Pump.Now, machine.Host, other == machine ? 0 : other.Host), machine, other);
        }
    }

    /// <summary>A minority of the silos may be away at a time: what is asked of a cluster without a majority is another question.</summary>
    private bool MayLose(Machine machine) =>
        machine.IsRunning && machine.State == MachineState.Up
            && (!machine.IsSilo || _world.Silos.Count(static silo => !silo.IsRunning || silo.State != MachineState.Up) < _mostDown);

    private void Make(Fault fault, Machine? machine, Machine? other)
    {
        Done.Add(fault);
        _world.Pump.Note(machine, EventKind.Fault, fault.Kind + (fault.Other > 0 ? " " + fault.Other : ""));
        var length = 1 + _dice.Exponential(_length);
        switch (fault.Kind)
        {
            case FaultKind.Reset or FaultKind.HalfOpen or FaultKind.BlackHole:
                Break(fault);
                break;
            case FaultKind.SlowLink:
                _world.Network.SlowDown(fault.Host, fault.Other, 10 + _dice.Below(500));
                Later(fault, length, () => _world.Network.Heal(fault.Host, fault.Other));
                break;
            case FaultKind.Partition:
                _world.Network.Cut(fault.Other, fault.Host);
                goto case FaultKind.OneWayPartition;
            case FaultKind.OneWayPartition:
                _world.Network.Cut(fault.Host, fault.Other);
                Later(fault, length, () => _world.Network.Heal(fault.Host, fault.Other));
                break;
            case FaultKind.Isolation:
                // At times longer than the others' patience with a silo, and its lease.
                Isolate(fault, _dice.Chance(_habits.LongIsolations) ? length * 8 : length);
                break;
            case FaultKind.Crash or FaultKind.PowerLoss:
                machine!.Kill(silent: fault.Kind == FaultKind.PowerLoss);
                Later(fault, length, () => Return(machine));
                break;
            case FaultKind.ShortPause or FaultKind.LongPause:
                machine!.Pause();
                Later(fault, fault.Kind == FaultKind.ShortPause ? Pump.Millisecond + (length / 10) : length * 4, machine.Resume);
                break;
            case FaultKind.Restart:
                machine!.Stop("rolling restart");
                Comeback(fault, machine);
                break;
            case FaultKind.ClockJump:
                machine!.Clock.WallError += _dice.Between(-3600, 3600) * Pump.Second;
                fault.Until = fault.Time;
                break;
            case FaultKind.SlowMachine:
                machine!.Driver.Slowness = 10 + _dice.Below(200);
                Later(fault, length, () => machine.Driver.Slowness = 1);
                break;
            case FaultKind.RestartAll:
                foreach (var silo in _world.Silos)
                    silo.Kill(silent: false);
                fault.Until = fault.Time;
                break;
            case FaultKind.HookHangs or FaultKind.HookThrows:
                _hooks = fault.Kind;
                Later(fault, length, () => _hooks = null);
                break;
            case FaultKind.Strangers:
                foreach (var silo in _world.Silos.Where(silo => silo.Host == fault.Host))
                    _world.Network.ConnectStrangers(silo, 5 + _dice.Below(40));
                fault.Until = fault.Time;
                break;
            case FaultKind.Descriptors:
                machine!.IsOutOfDescriptors = true;
                Later(fault, length, () => machine.IsOutOfDescriptors = false);
                break;
            default:
                Trouble(fault, length);
                break;
        }
    }

    private void Break(Fault fault)
    {
        fault.Until = fault.Time;
        foreach (var connection in _world.Network.Connections.ToArray())
        {
            if (connection.Far is not { } far || !IsBetween(fault, connection.Near.Machine.Host, far.Machine.Host) || !_dice.Chance(0.7))
                continue;
            switch (fault.Kind)
            {
                case FaultKind.Reset:
                    connection.Reset(tellNear: true, tellFar: true);
                    break;
                case FaultKind.HalfOpen:
                    var near = _dice.Chance(0.5);
                    connection.Reset(near, !near);
                    break;
                default:
                    connection.Swallow();
                    break;
            }
        }
    }

    private static bool IsBetween(Fault fault, int one, int other) =>
        (one == fault.Host && other == fault.Other) || (one == fault.Other && other == fault.Host);

    private void Isolate(Fault fault, long length)
    {
        foreach (var machine in _world.Machines)
        {
            if (machine.Host == fault.Host)
                continue;
            _world.Network.Cut(fault.Host, machine.Host);
            _world.Network.Cut(machine.Host, fault.Host);
        }

        // Else the silo learns from the table what the others think of it. Without a lease it goes on meanwhile, and only the versions of
        // its states keep it from writing.
        var isCutOff = _habits.TableCuts >= 1 || (_habits.TableCuts > 0 && _dice.Chance(_habits.TableCuts));
        if (isCutOff)
            _world.Table.CutOff.Add(fault.Host);
        Later(fault, length, () =>
        {
            if (isCutOff)
                _world.Table.CutOff.Remove(fault.Host);
            foreach (var machine in _world.Machines)
                _world.Network.Heal(fault.Host, machine.Host);
        });
    }

    private void Trouble(Fault fault, long length)
    {
        var table = _world.Table;
        switch (fault.Kind)
        {
            case FaultKind.TableSlow:
                table.Latency = _dice.Pick<long>([50, 500, 3_000]) * Pump.Millisecond;
                break;
            case FaultKind.TableRefuses:
                table.Refusals = _dice.Pick<double>([0.1, 0.5, 1]);
                break;
            case FaultKind.TableLosesAnswers:
                table.LostAnswers = _dice.Pick<double>([0.1, 0.5]);
                break;
            case FaultKind.TableConflicts:
                table.Conflicts = _dice.Pick<double>([0.1, 0.5]);
                break;
            case FaultKind.TableCutOff:
                table.CutOff.Add(fault.Host);
                break;
        }

        Later(fault, length, () =>
        {
            if (fault.Kind == FaultKind.TableCutOff)
                table.CutOff.Remove(fault.Host);
            else if (table.CutOff.Count == 0)
                table.Heal();
        });
    }

    private void Later(Fault fault, long length, Action mend) =>
        _world.Pump.After(length, null, EventKind.Fault, "mend " + fault.Kind, () =>
    {
        fault.Until = Math.Min(fault.Until, _world.Pump.Now);
        if (!_isOver)
            mend();
    });

    /// <summary>Brings the host back once its process has gone.</summary>
    private void Comeback(Fault fault, Machine machine) =>
        _world.Pump.After(Pump.Second + _dice.Exponential(_length), null, EventKind.Fault, "comeback", () =>
    {
        if (_isOver)
            return;
        if (!machine.IsDead)
        {
            Comeback(fault, machine);
            return;
        }

        fault.Until = _world.Pump.Now;
        Return(machine);
    });

    private void Return(Machine machine)
    {
        if (machine.IsDead && _world.On(machine.Host) == machine)
            _world.Boot(machine.Host, machine.IsSilo);
    }

    /// <summary>What a supervisor of processes does now and then.</summary>
    internal void Supervise()
    {
        foreach (var machine in _world.Machines.ToArray())
        {
            if (machine.IsDead && (_isOver || machine.State == MachineState.Failed
                || !Done.Any(fault => fault.Host == machine.Host && fault.Until == long.MaxValue)))
            {
                Return(machine);
            }
        }
    }
}
