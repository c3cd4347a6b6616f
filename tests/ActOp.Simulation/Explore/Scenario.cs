using ActOp.Configuration;
using ActOp.Runtime.Activations;
using ActOp.Simulation.Checks;
using ActOp.Simulation.Load;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Configuration;
using Orleans.Runtime.Placement;

namespace ActOp.Simulation.Explore;

/// <summary>A small history that is played again and again, each time with another interference.</summary>
/// <param name="Name">Selects it.</param>
/// <param name="Play">Says what happens when, from the time at which the cluster stands.</param>
/// <param name="Seconds">How long it is.</param>
internal sealed record Scenario(string Name, Action<Script> Play, int Seconds)
{
    /// <summary>Silos that start at the beginning, on the hosts 1 to this.</summary>
    internal int Silos { get; init; } = 3;

    internal int Clients { get; init; } = 1;

    /// <summary>The requests of the start count, too.</summary>
    internal bool CountsStart { get; init; }

    /// <summary>Something goes wrong without interference.</summary>
    internal bool HasFaults { get; init; }

    /// <summary>Changes the settings.</summary>
    internal Func<Settings, Settings> With { get; init; } = static settings => settings;

    /// <summary>Configures the silos further.</summary>
    internal Action<ISiloBuilder>? Silo { get; init; }

    /// <summary>Seconds that the checks of <see cref="Fixtures"/> need when all is well again; 0 for none.</summary>
    internal int SecondsAfterwards { get; init; }
}

/// <summary>One run of a scenario, with what is to go wrong.</summary>
internal sealed class Scripted(Scenario scenario, IReadOnlyList<Interference> plan)
{
    /// <summary>Grains work with what they have for so long before the next phase begins.</summary>
    private const long Pause = Pump.Second;

    /// <summary>The cluster stands by then, or never.</summary>
    private const long LongestStart = 60 * Pump.Second;

    private World.World _world = null!;
    private Faults _faults = null!;
    private Script _script = null!;

    /// <summary>
    /// A tick of a reminder, a read of reminders, or an operation of a storage has failed: its caller is told, or it comes again.
    /// </summary>
    private static readonly int[] FailuresOfServices = [1100, 1102, 1120];

    internal Tap Tap { get; private set; } = null!;

    internal Fixtures Fixtures { get; private set; } = null!;

    internal bool IsCalm => plan.Count == 0 && !scenario.HasFaults;

    /// <summary>A silo is not declared dead within the time after which a call is given up, so that a late answer is possible.</summary>
    internal Settings Settings => scenario.With(new Settings
    {
        Silos = 3,
        Clients = scenario.Clients,
        ResponseTimeout = TimeSpan.FromSeconds(2),
        ProbeTimeout = TimeSpan.FromSeconds(1),
        Lease = TimeSpan.FromSeconds(8),
        CollectionAge = TimeSpan.FromSeconds(900),
        MailboxLimit = 100_000,
        MaxForwards = 2,
        LinksPerPeer = 1,
        Pollers = 1,
        Placement = new PreferLocalPlacement(),
        Locality = false,
        Migration = MigrationMode.Live,
        Rebalancing = null,
        Pace = new Pace(2, 20 * Pump.Microsecond, 0, FlushesItself: true),
        Wires = new Wires(100 * Pump.Microsecond, 20 * Pump.Microsecond, 256 << 10, 0, 0),
    });

    internal void Attach(World.World world, Ledger ledger, Faults faults, Callers callers)
    {
        (_world, _faults) = (world, faults);
        Tap = new Tap(world, faults, plan);
        world.Network.Tap = Tap;
        world.Table.Tap = Tap;
        Fixtures = new Fixtures(world, ledger, faults);
        _script = new Script(world, callers, ledger, faults, Fixtures);
    }

    /// <summary>Why an error is in a log, if the interference must bring it; null if not.</summary>
    internal Excuse? ExcuseOf(LogLine line) => !IsCalm && FailuresOfServices.Contains(line.Id.Id) ? Excuse.Reminders : null;

    internal void Configure(Machine machine, IServiceCollection services)
    {
        services.AddSingleton(Fixtures);
        // So that late answers of system targets are late, too.
        services.Configure<SiloMessagingOptions>(options => options.SystemResponseTimeout = Settings.ResponseTimeout);
        if (machine.IsSilo)
            scenario.Silo?.Invoke(new SiloServices(services));
    }

    internal void Play(Action<Func<bool>> until)
    {
        Tap.IsOn = scenario.CountsStart;
        for (var host = 1; host <= scenario.Silos; host++)
            BootAt(host * 100, host, isSilo: true);
        for (var client = 1; client <= scenario.Clients; client++)
            BootAt(1500, 100 + client, isSilo: false);
        var (latest, settled) = (_world.Pump.Now + LongestStart, 0L);
        until(() =>
        {
            var stands = _world.Machines.Count() == scenario.Silos + scenario.Clients && Quiet.HasSettled(_world);
            settled = !stands ? 0 : settled == 0 ? _world.Pump.Now : settled;
            return (settled > 0 && _world.Pump.Now - settled > Pause) || _world.Pump.Now > latest;
        });
        Tap.IsOn = true;
        _script.Begin();
        _world.Pump.After(0, null, EventKind.Load, "script", () => scenario.Play(_script));
        var end = _world.Pump.Now + (scenario.Seconds * Pump.Second);
        until(() => _world.Pump.Now > end);
        Tap.IsOn = false;
        until(() => _world.Pump.Now > Math.Max(end, Tap.OverAt) + Pause);
    }

    /// <summary>When all is well again: what streams and reminders do then.</summary>
    internal void CheckAfterwards(Action<Func<bool>> until)
    {
        if (scenario.SecondsAfterwards == 0)
            return;
        _world.Pump.After(0, null, EventKind.Load, "afterwards", Fixtures.BeginAfterwards);
        var end = _world.Pump.Now + (scenario.SecondsAfterwards * Pump.Second);
        until(() => _world.Pump.Now > end);
        Fixtures.CheckAfterwards();
        _world.Pump.After(0, null, EventKind.Load, "leave", Fixtures.EndAfterwards);
    }

    private void BootAt(int milliseconds, int host, bool isSilo) => _world.Pump.After(
        milliseconds * Pump.Millisecond, null, EventKind.Fault, "boot", () => _world.Boot(host, isSilo));

    private sealed class SiloServices(IServiceCollection services) : ISiloBuilder
    {
        public IServiceCollection Services => services;

        public IConfiguration Configuration { get; } = new ConfigurationBuilder().Build();
    }
}

/// <summary>What a scenario can let happen, at times from its beginning in seconds.</summary>
internal sealed class Script(World.World world, Callers callers, Ledger ledger, Faults faults, Fixtures fixtures)
{
    private long _begin;

    internal Fixtures Fixtures => fixtures;

    internal void Begin() => _begin = world.Pump.Now;

    /// <summary>A counter without a timer that ends when it is asked to, and whose slot the silo owns at the beginning.</summary>
    internal long CounterAt(int owner, int nth = 0)
    {
        var machine = world.On(owner)!;
        for (var number = 2L; number < Numbers.FirstDesk; number++)
        {
            if (!Numbers.HasTimer(number) && !Numbers.MovesAtTheEnd(number) && IsOwnedBy(machine, number) && nth-- == 0)
                return number;
        }

        throw new InvalidOperationException("No counter belongs to host " + owner + ".");
    }

    /// <summary>A grain that carries nothing, whose slot the silo owns at the beginning.</summary>
    internal long DeskAt(int owner)
    {
        var machine = world.On(owner)!;
        var number = Numbers.FirstDesk + 1;
        while (!IsOwnedBy(machine, number))
            number++;
        return number;
    }

    /// <summary>Grains that carry nothing may move: they begin anew.</summary>
    internal void LetDesksForget() => ledger.DesksForget = true;

    /// <summary>Code of the application runs on a machine, if there is one then.</summary>
    internal void At(double seconds, int host, Action<Machine> act) =>
        world.Pump.At(_begin + (long)(seconds * Pump.Second), null, EventKind.Load, "script", () =>
        {
            if (world.On(host) is { State: MachineState.Up, IsDead: false } machine)
                world.Pump.After(0, machine, EventKind.Load, "script", () => act(machine));
        });

    internal void Call(double seconds, int host, CallKind kind, long number) =>
        At(seconds, host, machine => _ = callers.CallAsync(machine, kind, number));

    /// <summary>All nodes call the counter.</summary>
    internal void CallFromAll(double seconds, long number)
    {
        foreach (var host in new[] { 1, 2, 3, 101 })
            Call(seconds, host, CallKind.Add, number);
    }

    /// <summary>The counter moves to the silo of a host.</summary>
    internal void Move(double seconds, int host, long number, int target) => At(seconds, host, machine =>
    {
        if (world.On(target) is { IsDead: false } other)
            _ = MoveAsync(machine, number, other);
    });

    /// <summary>The runtime moves the counter from one silo to another.</summary>
    internal void Send(double seconds, int from, long number, int to, bool live) => At(seconds, from, machine =>
    {
        if (world.On(to) is { IsDead: false } other
            && machine.Node.Activations.TryGet(Numbers.IdOf(machine.Grains, number), out var activation))
        {
            activation.TryMigrate(new MigrationRequest(other.Node.Address, live));
        }
    });

    /// <summary>A counter calls another one.</summary>
    internal void Pair(double seconds, int host, long first, long second) =>
        At(seconds, host, machine => _ = PairAsync(machine, first, second));

    internal void Boot(double seconds, int host) => world.Pump.At(
        _begin + (long)(seconds * Pump.Second), null, EventKind.Fault, "boot", () => world.Boot(host, isSilo: true));

    /// <summary>The process ends in order and comes back.</summary>
    internal void Restart(double seconds, int host, double comesBack) => Interrupt(seconds, host, comesBack, FaultKind.Restart,
        machine => machine.Stop("scenario"), static _ => { });

    /// <summary>The process crashes and comes back.</summary>
    internal void Crash(double seconds, int host, double comesBack) => Interrupt(seconds, host, comesBack, FaultKind.Crash,
        static machine => machine.Kill(silent: false), static _ => { });

    /// <summary>The silo is cut off from all others and the table for a time.</summary>
    internal void Isolate(double seconds, int host, double ends) => Interrupt(seconds, host, ends, FaultKind.Isolation, machine =>
    {
        world.Table.CutOff.Add(host);
        foreach (var other in world.Machines.Where(other => other.Host != host))
        {
            world.Network.Cut(host, other.Host);
            world.Network.Cut(other.Host, host);
        }
    }, machine =>
    {
        world.Table.CutOff.Remove(host);
        foreach (var other in world.Machines)
            world.Network.Heal(host, other.Host);
    });

    /// <summary>A call with a result of its own.</summary>
    internal void Ask(double seconds, int host, string kind, Func<Machine, Task> call) =>
        At(seconds, host, machine => _ = AskAsync(machine, kind, call));

    private void Interrupt(double seconds, int host, double ends, FaultKind kind, Action<Machine> begin, Action<Machine> end) =>
        At(seconds, host, machine =>
        {
            var fault = new Fault(kind, world.Pump.Now, host, 0);
            faults.Done.Add(fault);
            world.Pump.After(0, null, EventKind.Fault, kind.ToString(), () => begin(machine));
            world.Pump.At(_begin + (long)(ends * Pump.Second), null, EventKind.Fault, "mend " + kind, () =>
            {
                fault.Until = Math.Min(fault.Until, world.Pump.Now);
                end(machine);
            });
        });

    private async Task PairAsync(Machine machine, long first, long second)
    {
        var ticket = ledger.Open(second, nameof(CallKind.Relay), machine);
        RequestContext.Set(Numbers.Ticket, ticket.Id);
        Exception? failure = null;
        long? answer = null;
        try
        {
            answer = await machine.Grains.GetGrain<ICounter>(first).Relay([second], 0, ticket.Id);
        }
        catch (Exception exception)
        {
            failure = exception;
        }

        if (!machine.IsDead && !ticket.HasEnded)
            ledger.Close(ticket, answer, failure);
    }

    private async Task MoveAsync(Machine machine, long number, Machine target)
    {
        RequestContext.Set(IPlacementDirector.PlacementHintKey, target.Node.Address);
        await callers.CallAsync(machine, CallKind.Move, number);
    }

    private async Task AskAsync(Machine machine, string kind, Func<Machine, Task> call)
    {
        var ticket = ledger.Open(0, kind, machine);
        Exception? failure = null;
        try
        {
            await call(machine);
        }
        catch (Exception exception)
        {
            failure = exception;
        }

        if (!machine.IsDead && !ticket.HasEnded)
            ledger.Close(ticket, null, Fixtures.IsExpected(failure) ? null : failure);
    }

    private static bool IsOwnedBy(Machine machine, long number) =>
        machine.Node.Address.Equals(machine.Node.DirectoryService.Map.OwnerOf(Numbers.IdOf(machine.Grains, number)));
}
