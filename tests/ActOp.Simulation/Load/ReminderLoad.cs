using ActOp.Reminders;
using ActOp.Runtime.Activations;
using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;
using Microsoft.Extensions.DependencyInjection;

namespace ActOp.Simulation.Load;

/// <summary>
/// Grains that register, replace and end reminders while silos come and go and the table of reminders fails.
/// </summary>
/// <remarks>
/// The table is the truth. What is in it ticks when it is due, once nothing has been wrong for long enough; what has left it does not tick
/// any more. Each tick comes once, unless silos were separated from each other. See docs/simulation.md for the limits.
/// </remarks>
internal sealed class ReminderLoad : IThemeLoad
{
    /// <summary>A tick has failed, and the table could not be read.</summary>
    private static readonly int[] ExpectedErrors = [1100, 1102];

    private static readonly string[] Names = ["a", "b"];

    private readonly World.World _world;
    private readonly Ledger _ledger;
    private readonly Faults _faults;
    private readonly Dice _dice;
    private readonly TimeSpan _refresh;
    private readonly TimeSpan _window;
    private readonly ReminderChecks _checks;
    private readonly RequestTrouble _trouble;
    private readonly int _alarms;

    /// <summary>Between the calls of a machine, on average: in some runs reminders live long, in others they are replaced soon.</summary>
    private readonly long _pause;
    private readonly HashSet<(long, string)> _busy = [];
    private readonly HashSet<long> _ending = [];
    private long _phaseSince;
    private Phase _phase;
    private bool _isOver;
    private bool _hasTroubleEnded;

    internal ReminderLoad(World.World world, Ledger ledger, Faults faults)
    {
        (_world, _ledger, _faults) = (world, ledger, faults);
        _dice = world.Dice.Fork("reminders");
        Table = new SharedReminders(world.Pump, world.Dice.Fork("reminder table"));
        _refresh = TimeSpan.FromSeconds(_dice.Pick<int>([10, 15, 25]));
        _window = TimeSpan.FromSeconds(_dice.Pick<int>([26, 60]));
        _checks = new ReminderChecks(world, ledger, faults, Table, _refresh);
        (_alarms, _pause) = world.Dice.Fork("alarms").Pick<(int, long)>(
            [(6, 400 * Pump.Millisecond), (40, 400 * Pump.Millisecond), (40, 2 * Pump.Second)]);
        _trouble = new RequestTrouble(world, faults, nameof(IReminderTarget));
        if (_trouble.HasAny)
            world.Network.Tap = _trouble;
    }

    /// <summary>From the end of the faults to that of the run.</summary>
    private enum Phase
    {
        Load,

        /// <summary>Everything ticks.</summary>
        Ticking,

        /// <summary>All reminders are being ended.</summary>
        Ending,

        /// <summary>Nothing ticks any more.</summary>
        Silent,
        Proven,
    }

    public bool HasProven => _phase == Phase.Proven;

    internal SharedReminders Table { get; }

    public void Configure(Machine machine, IServiceCollection services)
    {
        services.AddSingleton(this);
        if (!machine.IsSilo)
            return;
        services.AddSingleton<IReminderTable>(new MachineReminders(Table, machine));
        services.AddReminders();
        services.Configure<ReminderOptions>(options =>
        {
            options.MinimumReminderPeriod = TimeSpan.FromSeconds(1);
            options.RefreshReminderListPeriod = _refresh;
            options.ReminderLoadingWindow = _window;
        });
    }

    public void BeginFaults()
    {
        _trouble.IsOn = true;
        Table.BeginFaults(_dice, _world.IsCalm);
        if (Table.IsTroubled)
            Table.Conflicts = _dice.Pick<double>([0, 0.02, 0.1]);
    }

    public void EndFaults()
    {
        _trouble.IsOn = false;
        Table.EndFaults();
        Table.Conflicts = 0;
        _hasTroubleEnded = true;
    }

    public void Begin(Machine machine)
    {
        _checks.Begin(machine);
        _ = LoopAsync(machine);
    }

    public void Lived(Machine machine, Activation activation, LifeEvent happened)
    {
    }

    public bool MayStay(Activation activation) => false;

    public int ObserversOf(Machine machine) => 0;

    public Excuse? ExcuseOf(LogLine line) => ExpectedErrors.Contains(line.Id.Id) ? Excuse.Reminders : null;

    public void End()
    {
        _isOver = true;
        Enter(Phase.Ticking);
    }

    public void Watch()
    {
        _checks.Watch();
        switch (_phase)
        {
            case Phase.Ticking when _checks.HaveAllTickedSince(_phaseSince) && _world.Silos.All(static silo => ServiceOf(silo).IsSettled):
                CheckCounts();
                Enter(Phase.Ending);
                EndAll();
                break;
            case Phase.Ticking when _world.Pump.Now - _phaseSince > (_checks.Lag + TimeSpan.FromSeconds(60)).Ticks:
                _ledger.Accuse("silent reminder", _checks.TellSilent(_phaseSince) + " Not settled: " + string.Join(" ",
                    _world.Silos.Where(static silo => !ServiceOf(silo).IsSettled).Select(static silo => silo.Name)));
                break;
            case Phase.Ending when _ending.Count == 0:
                Enter(Phase.Silent);
                break;
            case Phase.Ending when _world.Pump.Now - _phaseSince > 60 * Pump.Second:
                _ledger.Accuse("silent reminder", "The reminders of " + _ending.Count + " grains cannot be ended.");
                break;
            case Phase.Silent when _world.Pump.Now - _phaseSince > (_world.Settings.ResponseTimeout + TimeSpan.FromSeconds(5)).Ticks:
                CheckEmpty();
                Enter(Phase.Proven);
                break;
        }
    }

    /// <summary>A call of a grain waits, until this is disposed.</summary>
    internal IDisposable Occupy(GrainId grain, Machine machine) => _checks.Occupy(grain, machine);

    /// <summary>A grain was told that its reminder is registered.</summary>
    internal void IsSet(GrainId grain, IGrainReminder reminder) => _checks.IsSet(grain, (ReminderHandle)reminder);

    /// <summary>A grain was told that its reminder has ended.</summary>
    internal void IsUnset(GrainId grain, IGrainReminder reminder) => _checks.IsUnset(grain, (ReminderHandle)reminder);

    /// <summary>A grain gets a tick.</summary>
    internal async Task TickAsync(GrainId grain, Machine machine, string name, TickStatus status)
    {
        _checks.TickBegins(grain, name, status, machine);
        var trouble = _hasTroubleEnded ? 1 : _dice.Unit();
        try
        {
            if (trouble < 0.1)
            {
                var pause = trouble < 0.01 ? _dice.Between(1000, 4000) : _dice.Below(300);
                await Task.Delay(TimeSpan.FromMilliseconds(pause), machine.AppClock);
            }

            if (trouble is > 0.1 and < 0.13)
                throw new InvalidOperationException("The alarm fails.");
        }
        finally
        {
            _checks.TickEnds(grain, name);
        }
    }

    private void Enter(Phase phase) => (_phase, _phaseSince) = (phase, _world.Pump.Now);

    private static IAlarm Of(IGrainFactory grains, long number) =>
        number % 2 == 0 ? grains.GetGrain<IBusyAlarm>(number) : grains.GetGrain<IPlainAlarm>(number);

    private async Task LoopAsync(Machine machine)
    {
        while (!_isOver && machine is { State: MachineState.Up, IsDead: false })
        {
            await Task.Delay(TimeSpan.FromTicks(Math.Max(1, _dice.Exponential(_pause))), machine.AppClock);
            if (_isOver || machine is not { State: MachineState.Up, IsDead: false })
                return;
            await CallAsync(machine, 1 + _dice.Below(_alarms), _dice.Pick(Names));
        }
    }

    private async Task CallAsync(Machine machine, long number, string name)
    {
        // Who has written last must be known.
        if (!_busy.Add((number, name)))
            return;
        try
        {
            var alarm = Of(machine.Grains, number);
            switch (_dice.Below(10))
            {
                case < 4:
                    var period = _dice.Chance(0.1) ? 30_000 : 1_000 + _dice.Below(4_000);
                    await alarm.Set(name, _dice.Pick<int>([0, 500, 3_000, period]), period);
                    break;
                case < 6:
                    await alarm.Unset(name);
                    break;
                case < 8:
                    await alarm.Leave();
                    break;
                default:
                    await alarm.Move();
                    break;
            }

            _ledger.Count("alarm ok");
        }
        catch (Exception exception) when (IsExpected(exception))
        {
            _ledger.Count("alarm " + exception.GetType().Name);
        }
        catch (Exception exception)
        {
            _ledger.Accuse("exception", "A call to alarm " + number + " has ended with " + exception);
        }
        finally
        {
            _busy.Remove((number, name));
        }
    }

    private bool IsExpected(Exception exception) => !_world.IsCalm
        && exception is TimeoutException or SiloUnavailableException or OrleansMessageRejectionException or ClientNotAvailableException
            or LimitExceededException or OperationCanceledException or ObjectDisposedException or ReminderException or IOException;

    /// <summary>Each reminder is in the memory of one silo, and nobody has others.</summary>
    private void CheckCounts()
    {
        var known = _world.Silos.Sum(static silo => ServiceOf(silo).Count);
        if (_window > TimeSpan.FromSeconds(30) && known != Table.Rows.Count)
            _ledger.Accuse("reminders", "The silos have " + known + " reminders, but the table has " + Table.Rows.Count + ".");
    }

    private void CheckEmpty()
    {
        _ledger.Count("reminders written", Table.Versions.Count);
        if (Table.Rows.Count > 0)
            _ledger.Accuse("reminders", Table.Rows.Count + " reminders are in the table, though all were ended.");
        foreach (var silo in _world.Silos)
        {
            if (ServiceOf(silo) is var service && service.Count + service.Running > 0)
                _ledger.Accuse("reminders", silo.Name + " keeps " + service.Count + " reminders and " + service.Running + " ticks.");
        }
    }

    private static ReminderService ServiceOf(Machine silo) =>
        silo.Node.Local.Services.GetRequiredService<ReminderSilo>().Service!;

    private void EndAll()
    {
        var silo = _world.Silos.First();
        for (var number = 1L; number <= _alarms; number++)
        {
            var one = number;
            _ending.Add(one);
            _world.Pump.After(0, silo, EventKind.Load, "end reminders", () => _ = EndAsync(silo, one));
        }
    }

    private async Task EndAsync(Machine silo, long number)
    {
        for (var hasEnded = false; !hasEnded;)
        {
            try
            {
                await Of(silo.Grains, number).UnsetAll();
                hasEnded = true;
            }
            catch (Exception exception) when (exception is TimeoutException or OrleansException)
            {
                await Task.Delay(TimeSpan.FromSeconds(1), silo.AppClock);
            }
        }

        _ending.Remove(number);
    }
}
