using ActOp.Runtime.Activations;
using ActOp.Simulation.Checks;
using ActOp.Simulation.Explore;
using ActOp.Simulation.Load;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Orleans.Configuration;

namespace ActOp.Simulation;

/// <summary>What one seed came to.</summary>
internal sealed record Outcome(
    ulong Seed,
    ulong Hash,
    TimeSpan Simulated,
    long Events,
    long Detours,
    IReadOnlyList<Fault> Faults,
    IReadOnlyDictionary<string, long> Calls,
    Excuses Excuses,
    long Looks,
    long LifeEvents,
    IReadOnlySet<(int Code, LifeEvent Happened)> KindsOfLifeEvents,
    IReadOnlyList<Violation> Violations);

/// <summary>
/// One seed: a cluster, its faults and its callers; first safety while things go wrong, then whether all is well again in time.
/// </summary>
internal sealed class Run : IWorldWatcher
{
    /// <summary>
    /// An answer comes by its deadline and this. The sweep of deadlines waits for the timer of the clock and in the control stage, its
    /// exception in the mailbox of a caller that is a grain, and that of the caller before it. None of these waits is longer than
    /// <see cref="MachineDriver.LongestWait"/>, also when a slow machine has a hiccup. The clock's rate takes a tenth of a second.
    /// </summary>
    private static readonly TimeSpan Grace = new(5 * MachineDriver.LongestWait);

    /// <summary>Steps of one run, at most: more is a loop.</summary>
    private const long MostEvents = 10_000_000;

    /// <summary>How often a run looks whether all agree.</summary>
    private const long Glance = 10 * Pump.Millisecond;

    /// <summary>An orderly stop takes half a minute at most, which is what a host gives it, and the time of a slow machine.</summary>
    private static readonly TimeSpan LongestStop = TimeSpan.FromSeconds(40);

    /// <summary>Work of the mesh threw.</summary>
    private const int WorkFailed = 1008;

    /// <summary>
    /// Stands for the stack trace of each exception that is sent: what a real one says depends on the build, and its length moves time.
    /// </summary>
    private static readonly string Stack = string.Concat(Enumerable.Repeat("   at Simulation.Of.A.Method(That has thrown)\n", 12));

    private readonly ulong _seed;
    private readonly World.World _world;
    private readonly Faults _faults;
    private readonly Ledger _ledger;
    private readonly LifeEvents _lives;
    private readonly Rounds _rounds;
    private readonly Callers _callers;
    private readonly KeeperLoad? _keepers;
    private readonly DraftLoad? _drafts;
    private readonly WaiterLoad? _waiters;
    private readonly BulkLoad? _bulk;
    private readonly Scripted? _scripted;
    private readonly IThemeLoad? _own;
    private readonly FeedLoad? _feeds;
    private readonly HashSet<Machine> _calling = [];
    private readonly Dice _dice;

    private Run(ulong seed, Theme theme, TextWriter? trace, Scripted? scripted = null)
    {
        Wire.StableHash.IsRandom = false;
        Serialization.Codecs.ExceptionBody.StackOf = static _ => Stack;
        _seed = seed;
        _scripted = scripted;
        _dice = new Dice(seed).Fork("run");
        var kinds = scripted is null ? ThemeRules.DrawFaults(theme, new Dice(seed).Fork("kinds")) : [];
        var settings = Settings.Draw(new Dice(seed).Fork("settings")).For(theme, new Dice(seed).Fork("theme"));
        settings = scripted?.Settings ?? (kinds.Count > 0 ? settings : Calm(settings));
        _world = new World.World(seed, settings, this, trace)
        {
            IsCalm = scripted?.IsCalm ?? kinds.Count == 0,
            IsScripted = scripted is not null,
            Theme =
                theme
        };
        _faults = new Faults(_world, kinds, ThemeRules.HabitsOf(theme));
        _ledger = new Ledger(_world, () => _faults);
        // Instead of the end of the process: a check of the runtime that fails is a violation of this seed (record 0077).
        AppContext.SetData("ActOp.Invariants.Handler", (Action<string>)(text => _ledger.Accuse("invariant", text)));
        _lives = new LifeEvents(_world, _ledger);
        _rounds = new Rounds(_world, _ledger, () => _faults);
        _keepers = theme switch
        {
            Theme.States => new KeeperLoad(_world, _ledger, new Store(_world.Pump, _world.Dice.Fork("store"))),
            Theme.Files => new KeeperLoad(_world, _ledger, new FileStore(_world.Pump, _world.Dice.Fork("store"))),
            _ => null,
        };
        _drafts = theme == Theme.Files ? new DraftLoad(_world, _ledger) : null;
        _feeds = theme == Theme.Items ? new FeedLoad(_world, _ledger) : null;
        _waiters = theme == Theme.Tokens ? new WaiterLoad(_world, _ledger, _faults) : null;
        _bulk = theme == Theme.Bulk ? new BulkLoad(_world, _ledger) : null;
        _own = theme == Theme.Streams ? new StreamLoad(_world, _ledger, _faults)
            : theme == Theme.Reminders ? new ReminderLoad(_world, _ledger, _faults) : null;
        if (_keepers is not null)
        {
            _keepers.Store.EndAll = _faults.EndAll;
            _keepers.Store.Kill = machine =>
            {
                if (_faults.Crash(machine))
                    _ledger.Count("killed while writing");
            };
        }

        _callers = new Callers(_world, _ledger, new Mix(_dice.Fork("mix"), theme));
        _scripted?.Attach(_world, _ledger, _faults, _callers);
        _world.Pump.Note(null, EventKind.Check, _world.Settings + " faults " + string.Join(",", _faults.Kinds));
    }

    private Pump Pump => _world.Pump;

    /// <summary>Plays a seed to its end.</summary>
    internal static Outcome Play(ulong seed, Theme theme, TextWriter? trace, Scripted? scripted = null)
    {
        var run = new Run(seed, theme, trace, scripted);
        run.Play();
        return new Outcome(seed, run.Pump.Hash, new TimeSpan(run.Pump.Now), run.Pump.Events, run.Pump.Detours, run._faults.Done,
            run._ledger.Outcomes, run._ledger.Excuses, run._rounds.Looks, run._lives.Count, run._lives.Kinds,
            run._ledger.Violations);
    }

    /// <summary>
    /// Without faults nothing may time out: not even behind a queue. And no machine may stand still for so long that the others must take it
    /// for dead, as one did for 0.67 s with a detection time of 0.6 s (seed 2253): on the way of a probe there and back are six waits.
    /// </summary>
    private static Settings Calm(Settings settings) => settings with
    {
        ResponseTimeout = settings.ResponseTimeout > TimeSpan.FromSeconds(10) ? settings.ResponseTimeout : TimeSpan.FromSeconds(10),
        Pace = settings.Pace with { Longest = settings.ProbeTimeout.Ticks / 8 },
    };

    /// <summary>The manifest that nodes send each other has the grains of the runs, and not those for users of the engine's package.</summary>
    public void ConfigureSilo(Machine machine, ISiloBuilder silo) => silo.Services.PostConfigure<GrainTypeOptions>(static options =>
    {
        options.Classes.RemoveWhere(static type => type.Assembly == typeof(SimulatedWorld).Assembly);
        options.Interfaces.RemoveWhere(static type => type.Assembly == typeof(SimulatedWorld).Assembly);
    });

    public void ConfigureClient(Machine machine, IClientBuilder client)
    {
    }

    public void Configure(Machine machine, IServiceCollection services)
    {
        services.AddSingleton(_ledger);
        _keepers?.Configure(machine, services);
        _waiters?.Configure(services);
        _scripted?.Configure(machine, services);
        _own?.Configure(machine, services);
        _feeds?.Configure(machine, services);
    }

    public void Booted() => _ledger.Excuses.See(Excuse.Processes);

    public void StartFailed(Machine machine, Exception exception)
    {
        if (_world.IsCalm)
            _ledger.Accuse("start", machine.Name + " did not start: " + exception);
        else
            _ledger.Excuses.Say(Excuse.StartFailed);
    }

    public void StopFailed(Machine machine, Exception exception) =>
        _ledger.Accuse("stop", machine.Name + " did not stop in order: " + exception);

    public void Stopped(Machine machine) => _callers.CallLate(machine);

    public void Exits(Machine machine) => Stop.Check(_world, machine, _ledger);

    // Its logs are in the trace.
    public bool Hears(string category, LogLevel level) => false;

    public void Logged(Machine machine, LogLevel level, string text)
    {
    }

    public void Lived(Machine machine, Activation activation, LifeMachine before, LifeEvent happened)
    {
        _lives.See(machine, activation, before, happened);
        _own?.Lived(machine, activation, happened);
    }

    private void Play()
    {
        if (_scripted is not null)
            Follow(_scripted);
        else
            Storm();
        Settle();
        if (_ledger.Violations.Count == 0)
            Serve();
        if (_ledger.Violations.Count == 0)
            _scripted?.CheckAfterwards(Until);
        if (_ledger.Violations.Count == 0)
            Rest();
        if (Pump.Events > MostEvents)
            _ledger.Accuse("endless", "The run has not ended after " + MostEvents + " events.");
        foreach (var line in _world.Log.Where(line => !(ExcuseOf(line) is { } excuse && _ledger.Excuses.Say(excuse))))
            _ledger.Accuse("log", line.Machine + " at " + new TimeSpan(line.Time) + ": " + line.Id.Id + " " + line.Text);
    }

    /// <summary>A scenario: what it says, and nothing by chance.</summary>
    private void Follow(Scripted scripted)
    {
        Pump.After(Pump.Second, null, EventKind.Check, "watch", Watch);
        scripted.Play(Until);
        _faults.End();
    }

    private void Storm()
    {
        for (var host = 1; host <= _world.Settings.Silos; host++)
            BootLater(host, isSilo: true, _dice.Between(0, 2 * Pump.Second));
        for (var client = 1; client <= _world.Settings.Clients; client++)
            BootLater(100 + client, isSilo: false, _dice.Between(2 * Pump.Second, 4 * Pump.Second));
        Pump.After(Pump.Second, null, EventKind.Check, "watch", Watch);
        var calm = 5 * Pump.Second;
        Until(() => Pump.Now >= calm);
        _faults.Begin();
        _keepers?.BeginFaults();
        _own?.BeginFaults();
        _feeds?.BeginFaults();
        // Some storms are longer than it takes to declare a silo dead and to wait for its lease.
        var isLong = _dice.Chance(0.1) || _world.Theme == Theme.Lease || (_world.Theme == Theme.Reminders && _world.IsCalm);
        var storm = Pump.Now + ((isLong ? _dice.Between(60, 120) : _dice.Between(10, 40)) * Pump.Second);
        Until(() => Pump.Now >= storm);
        _faults.End();
        _keepers?.EndFaults();
        _own?.EndFaults();
        _feeds?.EndFaults();
    }

    private Excuse? ExcuseOf(LogLine line) => line.Id.Id switch
    {
        502 or 505 => Excuse.Evicted,
        WorkFailed when _faults.Kinds.Contains(FaultKind.Descriptors) => Excuse.Descriptors,
        KeeperLoad.OperationFailed when _keepers is not null => Excuse.Storage,
        _ => _scripted?.ExcuseOf(line) ?? _own?.ExcuseOf(line),
    };

    private void BootLater(int host, bool isSilo, long delay) =>
        Pump.After(delay, null, EventKind.Fault, "boot", () => _world.Boot(host, isSilo));

    private void Until(Func<bool> isOver) => Pump.Run(() => _ledger.Violations.Count > 0 || Pump.Events > MostEvents || isOver());

    /// <summary>Once a second: what is down comes back, what is up begins to call, and no call is overdue.</summary>
    private void Watch()
    {
        Pump.After(Pump.Second, null, EventKind.Check, "watch", Watch);
        _faults.Supervise();
        foreach (var machine in _world.Machines)
        {
            if (machine is { State: MachineState.Up, IsDead: false } && _scripted is null && _calling.Add(machine))
            {
                Pump.After(0, machine, EventKind.Load, "begin", () => _callers.Begin(machine));
                if (_keepers is not null)
                    Pump.After(0, machine, EventKind.Load, "begin keepers", () => _keepers.Begin(machine));
                if (_drafts is not null)
                    Pump.After(0, machine, EventKind.Load, "begin drafts", () => _drafts.Begin(machine));
                if (_waiters is not null)
                    Pump.After(0, machine, EventKind.Load, "begin waiters", () => _waiters.Begin(machine));
                if (_bulk is not null)
                    Pump.After(0, machine, EventKind.Load, "begin bulk", () => _bulk.Begin(machine));
                if (_own is not null)
                    Pump.After(0, machine, EventKind.Load, "begin theme", () => _own.Begin(machine));
                if (_feeds is not null)
                    Pump.After(0, machine, EventKind.Load, "begin feeds", () => _feeds.Begin(machine));
            }
        }

        _own?.Watch();
        _ledger.CheckOverdue(Grace);
        _ledger.SeeEvictions();
        _rounds.Look(Grace);
        if (_world.IsCalm && _world.Silos.FirstOrDefault(static silo => silo.WasEvicted) is { } evicted)
            _ledger.Accuse("evicted", evicted.Name + " was evicted though nothing is wrong.");
        foreach (var machine in _world.Machines)
        {
            var since = Math.Max(machine.StoppingSince, machine.ResumedAt);
            if (machine is { State: MachineState.Stopping, IsRunning: true, Driver.Slowness: 1 } && Pump.Now - since > LongestStop.Ticks)
                _ledger.Accuse("stop", machine.Name + " has not stopped after " + new TimeSpan(Pump.Now - machine.StoppingSince) + ".");
        }
    }

    /// <summary>
    /// The longest that a cluster may need to agree on who is a member: detection of the dead, their lease, and a restart of those that
    /// were evicted.
    /// </summary>
    private void Settle()
    {
        var bound = Pump.Now + (120 * Pump.Second);
        var settled = 0L;
        var look = 0L;
        Until(() =>
        {
            if (Pump.Now < look)
                return false;
            look = Pump.Now + Glance;
            if (!Quiet.HasSettled(_world))
                settled = 0;
            else if (settled == 0)
                settled = Pump.Now;
            return Pump.Now > bound || (settled > 0 && Pump.Now - settled > 5 * Pump.Second);
        });
        if (settled == 0 && _ledger.Violations.Count == 0)
        {
            _ledger.Accuse("unsettled", "The silos do not agree on one view: "
                + string.Join("; ",
                    _world.Machines.Select(static machine => machine.Name + " " + machine.State + " sees "
                        + (machine.IsDead ? "nothing" : string.Join(" ", (object[])machine.Node.ClusterView.Active)))));
        }
    }

    /// <summary>Every counter answers every machine.</summary>
    private void Serve()
    {
        _callers.End();
        _keepers?.End();
        _drafts?.End();
        _waiters?.End();
        _bulk?.End();
        _feeds?.End();
        if (_own is not null)
        {
            Pump.After(0, null, EventKind.Load, "prove", _own.End);
            Until(() => _own.HasProven);
        }

        var patience = _world.Settings.ResponseTimeout + TimeSpan.FromSeconds(60);
        var open = 0;
        Pump.After(0, null, EventKind.Load, "serve", () =>
        {
            foreach (var machine in _world.Machines)
            {
                foreach (var counter in _ledger.Counters)
                {
                    open++;
                    Pump.After(0, machine, EventKind.Load, "serve", () => _ = AskAsync(machine, counter));
                }
            }
        });
        var bound = Pump.Now + patience.Ticks + (20 * Pump.Second);
        var from = Pump.Now;
        Until(() => (Pump.Now > from && open == 0) || Pump.Now > bound);
        if (open > 0)
            _ledger.Accuse("unserved", open + " probes of counters have not ended.");

        async Task AskAsync(Machine machine, long counter)
        {
            if (!await _callers.ServesAsync(machine, counter, patience))
            {
                _ledger.Accuse(
                    "unserved", "Counter " + counter + " does not answer " + machine.Name + " though nothing is wrong any more.");
            }

            open--;
        }
    }

    /// <summary>Nobody calls any more: whatever is under way ends.</summary>
    private void Rest()
    {
        var bound = Pump.Now + (_world.Settings.ResponseTimeout + Grace + TimeSpan.FromSeconds(20)).Ticks;
        Until(() => Pump.Now > bound);
        var busy = Quiet.Busy(_world);
        for (var looks = 0; looks < 5; looks++)
        {
            // Not a multiple of any timer's period.
            var next = Pump.Now + (137 * Pump.Millisecond);
            Until(() => Pump.Now > next);
            busy.IntersectWith(Quiet.Busy(_world));
        }

        _keepers?.CheckStore();
        _feeds?.CheckRest();
        _ledger.Count("in order", _ledger.Order.Compared);
        if (_ledger.Violations.Count > 0)
            return;
        // As an event: what threads keep for themselves is with the pump's.
        var isOver = false;
        Pump.After(0, null, EventKind.Check, "quiet", () =>
        {
            Quiet.Check(_world, _ledger, _callers, busy, _own);
            isOver = true;
        });
        Until(() => isOver);
        if (_world.IsCalm)
            CheckCalm();
    }

    /// <summary>When nothing goes wrong, what goes one way arrives or is counted.</summary>
    private void CheckCalm()
    {
        var lost = _ledger.LostDrops + (_callers.HasUnwatched ? 0 : _ledger.Notes - _ledger.Heard);
        var counted = _world.Machines.Sum(static machine => machine.Node.Metrics.Lost);
        if (lost > counted)
            _ledger.Accuse("lost", lost + " one-way calls have not arrived, but only " + counted + " were counted.");
    }
}
