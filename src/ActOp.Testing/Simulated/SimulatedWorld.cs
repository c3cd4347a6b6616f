using ActOp.Runtime.Activations;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Orleans.Hosting;

namespace ActOp.Testing.Simulated;

/// <summary>Told what becomes of the machines of a world.</summary>
internal interface IWorldWatcher
{
    /// <summary>Configures the silo of a machine as its application does.</summary>
    void ConfigureSilo(Machine machine, ISiloBuilder silo);

    /// <summary>Configures the client of a machine as its application does.</summary>
    void ConfigureClient(Machine machine, IClientBuilder client);

    /// <summary>Adds what the application of a machine needs, after all else.</summary>
    void Configure(Machine machine, IServiceCollection services);

    /// <summary>A process begins.</summary>
    void Booted();

    /// <summary>The process did not come up.</summary>
    void StartFailed(Machine machine, Exception exception);

    /// <summary>An orderly stop threw.</summary>
    void StopFailed(Machine machine, Exception exception);

    /// <summary>An orderly stop has ended.</summary>
    void Stopped(Machine machine);

    /// <summary>The process goes, a while after its orderly stop has ended.</summary>
    void Exits(Machine machine);

    /// <summary>Something has happened to an activation.</summary>
    void Lived(Machine machine, Activation activation, LifeMachine before, LifeEvent happened);

    /// <summary>Whether log lines of a category are wanted.</summary>
    bool Hears(string category, LogLevel level);

    /// <summary>A log line that is wanted.</summary>
    void Logged(Machine machine, LogLevel level, string text);
}

/// <summary>Machines, their network, their table and their time: everything of a run that is not its workload.</summary>
/// <remarks>Owns the machines of a run. Only the thread of the pump uses it, and the one that makes it, before the pump runs.</remarks>
internal class SimulatedWorld
{
    private readonly IWorldWatcher _watcher;
    private readonly SortedDictionary<int, Machine> _machines = [];
    private int _number;

    internal SimulatedWorld(ulong seed, Settings settings, IWorldWatcher watcher, TextWriter? trace)
    {
        Dice = new Dice(seed);
        Settings = settings;
        _watcher = watcher;
        Pump = new Pump(trace);
        Network = new Network(Pump, Dice.Fork("network"), settings.Wires);
        Table = new SharedTable(Pump, Dice.Fork("table"));
        ClockDrift = Dice.Fork("drift").Chance(0.5) ? 0.02 : 0;
    }

    internal Dice Dice { get; }

    /// <summary>Changed only before the first process starts.</summary>
    internal Settings Settings { get; set; }

    internal Pump Pump { get; }

    internal Network Network { get; }

    internal SharedTable Table { get; }

    /// <summary>Nothing goes wrong in this run.</summary>
    internal bool IsCalm { get; init; }

    /// <summary>Error lines of all machines.</summary>
    internal List<LogLine> Log { get; } = [];

    /// <summary>The rates of two machines' clocks differ by this share at most.</summary>
    internal double ClockDrift { get; }

    /// <summary>When a process last came up or began to end; the others take a while until all of them know.</summary>
    internal long ChangedAt { get; set; }

    /// <summary>The last process of each host, in the order of the hosts.</summary>
    internal IEnumerable<Machine> Machines => _machines.Values;

    internal IEnumerable<Machine> Silos => Machines.Where(static machine => machine.IsSilo);

    internal Machine? On(int host) => _machines.GetValueOrDefault(host);

    /// <summary>Starts a process on a host where none runs.</summary>
    internal Machine Boot(int host, bool isSilo)
    {
        Network.PowerOn(host);
        var machine = new Machine(this, ++_number, host, isSilo, _watcher);
        _watcher.Booted();
        _machines[host] = machine;
        Pump.After(0, machine, EventKind.Fault, "boot", machine.Start);
        return machine;
    }

    internal void StartFailed(Machine machine, Exception exception) => _watcher.StartFailed(machine, exception);

    internal void StopFailed(Machine machine, Exception exception) => _watcher.StopFailed(machine, exception);

    internal void Stopped(Machine machine) => _watcher.Stopped(machine);

    internal void Exits(Machine machine) => _watcher.Exits(machine);

    internal void Lived(Machine machine, Activation activation, LifeMachine before, LifeEvent happened) =>
        _watcher.Lived(machine, activation, before, happened);

    internal void Heal()
    {
        Network.HealAll();
        Table.Heal();
        foreach (var machine in Machines)
        {
            machine.Driver.Slowness = 1;
            machine.IsOutOfDescriptors = false;
            machine.Clock.WallError = 0;
            machine.Resume();
        }
    }
}
