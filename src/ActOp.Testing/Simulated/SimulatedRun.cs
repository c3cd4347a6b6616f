using System.Diagnostics;
using System.Text.RegularExpressions;
using ActOp.Runtime.Activations;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Hosting;
using Orleans.Runtime;
using Orleans.Storage;

namespace ActOp.Testing.Simulated;

/// <summary>One run of a test of an application: a cluster, what goes wrong in it, and the body of the test.</summary>
/// <remarks>
/// Owns the world, its storage and its table of reminders, from its construction to the end of <see cref="Play"/>. It is made on the thread
/// that explores; everything else is on that of the pump. Nothing of a run is left when its pump stops but objects: no thread, no timer.
/// </remarks>
internal sealed class SimulatedRun : IWorldWatcher
{
    private const int ClientHost = 101;

    /// <summary>A cluster without faults stands, or agrees, long before.</summary>
    private const long LongestStart = 120 * Pump.Second;

    /// <summary>The variable of the environment that says at which step of a replay a debugger stops.</summary>
    internal const string BreakVariable = "ACTOP_BREAK_AT";

    /// <summary>Letters of a log line that are shown: without most of an exception's stack.</summary>
    private const int LongestLog = 200;

    /// <summary>Between two looks at the clock on the wall.</summary>
    private const int StepsBetweenLooks = 1024;

    private static readonly string[] RuntimeCategories = ["ActOp.", "Orleans.", "Microsoft."];

    private readonly SimulationBudget _budget;
    private readonly RunPlan _plan;
    private readonly SimulatedWorld _world;
    private readonly SimulatedStorage _storage;
    private readonly SharedReminders _reminders;
    private readonly Dice _dice;
    private readonly Story? _story;
    private readonly List<int> _ran = [];
    private readonly SortedDictionary<long, string> _open = [];
    private long _opened;
    private int _commands;
    private RunFailure? _failure;
    private bool _isStarted;
    private bool _isDone;
    private Exception? _notStarted;

    internal SimulatedRun(ulong seed, RunPlan plan, SimulationBudget budget, bool isRecorded, TextWriter? trace = null)
    {
        (Seed, _plan, _budget) = (seed, plan, budget);
        var root = new Dice(seed);
        _world = new SimulatedWorld(seed, SettingsOf(root), this, trace) { IsCalm = true };
        _dice = root.Fork("test");
        Random = new DiceRandom(_dice.Fork("random"));
        _story = isRecorded ? new Story(_world.Pump, budget.StoryLines) : null;
        Faults = new RandomFaults(root.Fork("faults"), plan, Kinds);
        _storage = new SimulatedStorage(this, _world.Pump, root.Fork("storage"));
        _reminders = new SharedReminders(_world.Pump, root.Fork("reminders"));
        Time = new TestTime(_world.Pump);
        Barriers = new Barriers(this);
    }

    internal ulong Seed { get; }

    internal Random Random { get; }

    internal TimeProvider Time { get; }

    internal int SiloCount { get; set; } = 3;

    internal List<Action<ISiloBuilder>> SiloConfigurations { get; } = [];

    internal List<Action<IClientBuilder>> ClientConfigurations { get; } = [];

    internal RandomFaultKinds Kinds { get; set; } = new();

    internal RandomFaults Faults { get; private set; }

    internal Barriers Barriers { get; }

    /// <summary>Whether there is a story.</summary>
    internal bool IsRecorded => _story is not null;

    /// <summary>The step before which a debugger stops; 0 for none.</summary>
    internal long BreakAt
    {
        init => _world.Pump.Break = (value, Break);
    }

    /// <summary>What the test has looked for in this run, and whether it was ever so.</summary>
    internal Dictionary<string, bool> Situations { get; } = new(StringComparer.Ordinal);

    /// <summary>Calls of grains of the application that silos have run.</summary>
    internal long Calls { get; set; }

    internal IClusterClient Client
    {
        get
        {
            CheckStarted();
            return _world.On(ClientHost)!.Service<IClusterClient>();
        }
    }

    private Pump Pump => _world.Pump;

    /// <summary>Plays the test to its end, its failure or the end of its budget.</summary>
    internal RunOutcome Play(Func<SimulationWorld, Task> test)
    {
        AppContext.SetData("ActOp.Invariants.Handler", (Action<string>)(text =>
            Fail(new RunFailure("invariant", "A check of the runtime failed: " + text, null))));
        var until = Environment.TickCount64 + (long)_budget.RealTime.TotalMilliseconds;
        Pump.After(0, null, EventKind.Load, "test", () => _ = PlayAsync(test));
        try
        {
            // A debugger may hold the process for as long as its user thinks.
            Pump.Run(() => IsOver(until), Debugger.IsAttached
                ? Timeout.Infinite : (int)Math.Min(int.MaxValue, _budget.RealTime.TotalMilliseconds + 1000));
        }
        catch (TimeoutException exception)
        {
            Fail(new RunFailure("hang", exception.Message + " after " + _budget.RealTime + " (SimulationBudget.RealTime).", null));
        }
        catch (InvalidOperationException exception)
        {
            Fail(new RunFailure("engine", exception.Message, exception));
        }
        finally
        {
            AppContext.SetData("ActOp.Invariants.Handler", null);
        }

        if (!_isDone && _failure is null)
            Fail(new RunFailure("stuck", "Nothing is left to happen, and the test waits. " + WhatIsOpen(), null));
        return new RunOutcome(Seed, _plan, _failure)
        {
            Hash = Pump.Hash,
            Steps = Pump.Events,
            Calls = Calls,
            Simulated = new TimeSpan(Pump.Now),
            Faults = Faults.Struck,
            Messages = Faults.Messages,
            Moments = Faults.Moments,
            Commands = _ran,
            Situations = Situations,
            Story = _story,
        };
    }

    internal void CheckNotStarted()
    {
        if (_isStarted)
            throw new InvalidOperationException("The cluster has been started. Configure it before SimulationWorld.Start.");
    }

    internal void CheckStarted()
    {
        if (!_isStarted)
            throw new InvalidOperationException("The cluster has not been started. Await SimulationWorld.Start first.");
    }

    private void Break()
    {
        Tell("test", "is at the step of " + BreakVariable + (Debugger.IsAttached ? "" : ", but no debugger is attached"));
        if (Debugger.IsAttached)
            Debugger.Break();
    }

    /// <summary>Adds a line to the story, if it is recorded.</summary>
    internal void Tell(string who, string what, Arrow? arrow = null) => _story?.Add(who, what, arrow);

    internal async Task StartAsync()
    {
        CheckNotStarted();
        _isStarted = true;
        _world.Settings = _world.Settings with { Silos = SiloCount };
        for (var host = 1; host <= SiloCount; host++)
            Boot(host);
        Pump.After(0, null, EventKind.Fault, "boot", () => _world.Boot(ClientHost, isSilo: false));
        await SettledAsync().ConfigureAwait(true);
        Tell("cluster", "stands: " + SiloCount + " silos and a client");
        Faults = new RandomFaults(_world.Dice.Fork("faults"), _plan, Kinds);
        if (Faults.HasSlices)
            Pump.After(Faults.Slice, null, EventKind.Fault, "slice", Slice);
    }

    internal Task DelayAsync(long ticks)
    {
        var done = new TaskCompletionSource();
        Pump.After(ticks, null, EventKind.Load, "delay", done.SetResult);
        return done.Task;
    }

    internal async Task BesideAsync(string name, Func<Task> work)
    {
        await DelayAsync(_dice.Exponential(5 * Pump.Millisecond)).ConfigureAwait(true);
        await NamedAsync(name, work).ConfigureAwait(true);
    }

    internal Task<bool> CommandAsync(string text, Func<Task> action) => CommandAsync(ReserveCommands(1), text, action);

    /// <summary>Takes the numbers of so many commands, so that the order in which they run does not change them.</summary>
    /// <returns>The first one.</returns>
    internal int ReserveCommands(int count)
    {
        _commands += count;
        return _commands - count;
    }

    internal async Task<bool> CommandAsync(int number, string text, Func<Task> action)
    {
        if (!_plan.Runs(number))
            return false;
        _ran.Add(number);
        Faults.Command = number;
        await NamedAsync("command " + number + ": " + text, action).ConfigureAwait(true);
        return true;
    }

    internal async Task SettleAsync()
    {
        CheckStarted();
        Faults.IsOver = true;
        Barriers.ReleaseAll();
        _world.Heal();
        for (var host = 1; host <= SiloCount; host++)
            Restart(host);
        await SettledAsync().ConfigureAwait(true);
        Tell("cluster", "is whole again");
    }

    internal void Crash(int host, string why)
    {
        if (_world.On(host) is not { IsDead: false } silo)
            return;
        Tell(silo.Name, "crashes: " + why);
        silo.Kill(silent: false);
    }

    /// <summary>Crashes a silo and brings it back, unless nothing would be left of the cluster. False if it does not crash.</summary>
    internal bool CrashBut(Machine silo, string why)
    {
        if (silo.IsDead || !silo.IsSilo || silo.State != MachineState.Up
            || (SiloCount > 1 && _world.Silos.Count(static one => one is { IsRunning: true, State: MachineState.Up }) < 2))
        {
            return false;
        }

        Crash(silo.Host, why);
        Pump.After(_dice.Exponential(2 * Pump.Second), null, EventKind.Fault, "comeback", () => Restart(silo.Host));
        return true;
    }

    internal void Restart(int host)
    {
        if (_world.On(host) is not { IsDead: true })
            return;
        Tell("silo" + host, "starts again");
        Boot(host);
    }

    internal void Part(int one, int other)
    {
        Tell("silo" + one + " and silo" + other, "do not reach each other");
        _world.Network.Cut(one, other);
        _world.Network.Cut(other, one);
    }

    /// <summary>What one sends to the other waits; 0 is the client.</summary>
    internal void Hold(int from, int to)
    {
        Tell(NameOf(to), "does not get what " + NameOf(from) + " sends");
        _world.Network.Cut(HostOf(from), HostOf(to));
    }

    internal void Release(int from, int to)
    {
        Tell(NameOf(to), "gets what " + NameOf(from) + " has sent");
        _world.Network.Release(HostOf(from), HostOf(to));
    }

    internal void Heal()
    {
        CheckStarted();
        Tell("network", "is whole");
        _world.Heal();
    }

    internal void FailNextWrite(bool isDone) => _storage.Next = isDone ? Misfortune.LoseAnswer : Misfortune.Refuse;

    /// <summary>Resets all links of a silo; what is on them is lost.</summary>
    internal void LoseLinks(Machine silo)
    {
        foreach (var connection in _world.Network.Connections.ToArray())
        {
            if (connection.Near.Machine == silo || connection.Far?.Machine == silo)
                connection.Reset(tellNear: true, tellFar: true);
        }
    }

    /// <summary>Names of the silos that have an activation of a grain now, and run.</summary>
    internal IReadOnlyList<string> SilosOf(GrainId grain) =>
        [.. _world.Silos.Where(one => one is { IsRunning: true, State: MachineState.Up } && one.Node.Activations.TryGet(grain, out _))
            .Select(static one => one.Name)];

    private static int HostOf(int node) => node == 0 ? ClientHost : node;

    private static string NameOf(int node) => node == 0 ? "the client" : "silo" + node;

    /// <summary>Another silo that runs; null if there is none.</summary>
    internal Machine? Other(Machine silo, Dice dice)
    {
        Machine[] others = [.. _world.Silos.Where(one => one != silo && one is { IsRunning: true, State: MachineState.Up })];
        return others.Length == 0 ? null : dice.Pick(others);
    }

    void IWorldWatcher.ConfigureSilo(Machine machine, ISiloBuilder silo)
    {
        foreach (var configure in SiloConfigurations)
            configure(silo);
        silo.AddIncomingGrainCallFilter(new CallWatch(this, machine, Pump));
    }

    void IWorldWatcher.ConfigureClient(Machine machine, IClientBuilder client)
    {
        foreach (var configure in ClientConfigurations)
            configure(client);
    }

    void IWorldWatcher.Configure(Machine machine, IServiceCollection services)
    {
        services.RemoveAll<TimeProvider>();
        services.AddSingleton<TimeProvider>(machine.Clock);
        if (!machine.IsSilo)
            return;
        var names = services.Where(static one => one.ServiceType == typeof(IGrainStorage) && one.IsKeyedService)
            .Select(static one => (string)one.ServiceKey!).Distinct().ToArray();
        foreach (var name in names)
        {
            services.RemoveAllKeyed<IGrainStorage>(name);
            services.AddKeyedSingleton<IGrainStorage>(name, new MachineStorage(_storage, machine, name));
        }

        if (!services.Any(static one => one.ServiceType == typeof(IReminderTable)))
            return;
        services.RemoveAll<IReminderTable>();
        services.AddSingleton<IReminderTable>(new MachineReminders(_reminders, machine));
    }

    void IWorldWatcher.Booted()
    {
    }

    void IWorldWatcher.StartFailed(Machine machine, Exception exception)
    {
        Tell(machine.Name, "does not start: " + exception.Message);
        _notStarted ??= exception;
        if (machine.IsSilo && _isStarted)
            Pump.After(Pump.Second, null, EventKind.Fault, "comeback", () => Restart(machine.Host));
    }

    void IWorldWatcher.StopFailed(Machine machine, Exception exception) =>
        Tell(machine.Name, "does not stop in order: " + exception.Message);

    void IWorldWatcher.Stopped(Machine machine) => Tell(machine.Name, "has stopped");

    // The others have declared it dead, and it ends: a supervisor of processes brings it back.
    void IWorldWatcher.Exits(Machine machine) =>
        Pump.After(Pump.Second, null, EventKind.Fault, "comeback", () => Restart(machine.Host));

    void IWorldWatcher.Lived(Machine machine, Activation activation, LifeMachine before, LifeEvent happened)
    {
    }

    /// <summary>What the application logs is a part of its story, and so are errors of the runtime.</summary>
    bool IWorldWatcher.Hears(string category, LogLevel level) =>
        _story is not null
        && (level >= LogLevel.Error || !RuntimeCategories.Any(one => category.StartsWith(one, StringComparison.Ordinal)));

    void IWorldWatcher.Logged(Machine machine, LogLevel level, string text) => Tell(
        machine.Name, "logs (" + level + ") " + (text.Length > LongestLog ? text[..LongestLog] + "..." : text));

    /// <summary>What production has, over wires and threads that each seed draws.</summary>
    private static Settings SettingsOf(Dice root) => Settings.Draw(root.Fork("settings")) with
    {
        Clients = 1,
        ResponseTimeout = TimeSpan.FromSeconds(30),
        ProbeTimeout = TimeSpan.FromSeconds(1),
        Lease = Timeout.InfiniteTimeSpan,
        CollectionAge = TimeSpan.FromMinutes(15),
        MailboxLimit = new Configuration.StageOptions().MailboxLimit,
        MaxForwards = 2,
        Placement = new RandomPlacement(),
        Locality = false,
        Rebalancing = null,
    };

    private void Boot(int host) => Pump.After(
        _dice.Between(0, 20 * Pump.Millisecond), null, EventKind.Fault, "boot", () =>
        {
            if (_world.On(host) is null or { IsDead: true })
                _world.Boot(host, isSilo: true);
        });

    private async Task SettledAsync()
    {
        _notStarted = null;
        var until = Pump.Now + LongestStart;
        while (!HasSettled())
        {
            if (_notStarted is { } exception && !Faults.IsOver)
                throw new InvalidOperationException("A silo or the client does not start: " + exception.Message, exception);
            if (Pump.Now > until)
                throw new TimeoutException("The silos do not agree on who is a member after " + new TimeSpan(LongestStart) + ".");
            await DelayAsync(10 * Pump.Millisecond).ConfigureAwait(true);
        }
    }

    private bool HasSettled()
    {
        Machine[] silos = [.. _world.Silos];
        if (silos.Length < SiloCount || !_world.Machines.All(static one => one is { IsRunning: true, State: MachineState.Up })
            || _world.On(ClientHost) is null)
        {
            return false;
        }

        var expected = silos.Select(static silo => silo.Node.Address).ToHashSet();
        return _world.Machines.All(one => expected.SetEquals(one.Node.ClusterView.Active));
    }

    private void Slice()
    {
        if (Faults.IsOver)
            return;
        Pump.After(Faults.Slice, null, EventKind.Fault, "slice", Slice);
        var (kind, dice) = Faults.OfSlice();
        if (kind == Misfortune.None)
            return;
        var silo = dice.Pick<Machine>([.. _world.Silos]);
        var length = 1 + dice.Exponential(dice.Pick<long>([20, 500, 4000]) * Pump.Millisecond);
        switch (kind)
        {
            case Misfortune.Crash:
                CrashBut(silo, "by chance");
                break;
            case Misfortune.Pause:
                Pause(silo, length);
                break;
            case Misfortune.Clock:
                SetClock(silo, dice);
                break;
            default:
                CutOff(silo, dice.Pick<Machine>([.. _world.Machines.Where(one => one != silo)]), length);
                break;
        }
    }

    private void Pause(Machine silo, long length)
    {
        if (silo is not { IsRunning: true, State: MachineState.Up })
            return;
        Tell(silo.Name, "stands still for " + (length / Pump.Millisecond) + " ms");
        silo.Pause();
        Pump.After(length, null, EventKind.Fault, "resume", silo.Resume);
    }

    /// <summary>The monotonic clock goes on: timers keep their times.</summary>
    private void SetClock(Machine silo, Dice dice)
    {
        silo.Clock.WallError = dice.Pick<long>([-1, 1]) * dice.Exponential(dice.Pick<long>([1, 60, 3600]) * Pump.Second);
        Tell(silo.Name, "has its clock set by " + new TimeSpan(silo.Clock.WallError));
    }

    private void CutOff(Machine silo, Machine other, long length)
    {
        Tell(silo.Name + " and " + other.Name, "do not reach each other for " + (length / Pump.Millisecond) + " ms");
        _world.Network.Cut(silo.Host, other.Host);
        _world.Network.Cut(other.Host, silo.Host);
        Pump.After(length, null, EventKind.Fault, "heal", () => _world.Network.Heal(silo.Host, other.Host));
    }

    private async Task PlayAsync(Func<SimulationWorld, Task> test)
    {
        try
        {
            await test(new SimulationWorld(this)).ConfigureAwait(true);
            _isDone = true;
        }
        catch (CheckFailedException check)
        {
            Fail(new RunFailure("check: " + (check.Kind ?? Stable(check.Message)), check.Message, null));
        }
        catch (Exception exception)
        {
            Fail(new RunFailure(
                "exception: " + exception.GetType() + Stable(exception.Message),
                "The test throws " + exception.GetType().Name + ": " + exception.Message, exception));
        }
    }

    private async Task NamedAsync(string name, Func<Task> work)
    {
        var number = _opened++;
        _open.Add(number, name);
        Tell("test", "begins " + name);
        try
        {
            await work().ConfigureAwait(true);
            Tell("test", "has ended " + name);
        }
        catch (Exception exception) when (exception is not CheckFailedException)
        {
            Tell("test", "fails at " + name + ": " + exception.GetType().Name + ": " + exception.Message);
            throw;
        }
        finally
        {
            _open.Remove(number);
        }
    }

    private bool IsOver(long until)
    {
        if (_isDone || _failure is not null)
            return true;
        var (kind, limit) = Pump.Events > _budget.Steps ? ("steps", _budget.Steps + " steps (SimulationBudget.Steps)")
            : Pump.Now > _budget.VirtualTime.Ticks ? ("time", _budget.VirtualTime + " of virtual time (SimulationBudget.VirtualTime)")
            : Pump.Events % StepsBetweenLooks == 0 && Environment.TickCount64 > until && !Debugger.IsAttached
                ? ("real time", _budget.RealTime + " by the clock on the wall (SimulationBudget.RealTime)")
            : ("", "");
        if (kind.Length > 0)
            Fail(new RunFailure(kind, "The test has not ended after " + limit + ". " + WhatIsOpen(), null));
        return _failure is not null;
    }

    /// <summary>Names what a test that does not end waits for.</summary>
    private string WhatIsOpen()
    {
        var open = new List<string>(_open.Values);
        foreach (var machine in _world.Machines.Where(static one => !one.IsDead && one.State == MachineState.Up))
        {
            foreach (var (call, _) in machine.Node.Calls.Registry.Read())
            {
                if (!ActOp.Foundation.SystemGrainIds.IsSystemGrain(call.TargetId) && !call.Method.IsOfRuntime)
                    open.Add("a call of " + machine.Name + " to " + call.TargetId + " (" + call.Method.ActivityName + ")");
            }
        }

        return open.Count == 0 ? "No command and no call is open: the test waits for something of its own."
            : "Open: " + string.Join("; ", open.Take(20)) + (open.Count > 20 ? "; and " + (open.Count - 20) + " more." : ".");
    }

    private void Fail(RunFailure failure)
    {
        if (_failure is not null)
            return;
        _failure = failure;
        Tell("test", "FAILS: " + failure.Text);
    }

    /// <summary>
    /// What follows a colon, and numbers and how many of them, change when faults are left out; the failure is the same.
    /// </summary>
    private static string Stable(string text) =>
        Regex.Replace(Regex.Replace(text.Split(": ")[0], "[0-9a-fA-F-]*[0-9][0-9a-fA-F-]*", "#"), "#(, #)+", "#");
}
