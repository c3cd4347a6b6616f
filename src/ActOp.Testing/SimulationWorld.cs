using System.Reflection;
using ActOp.Testing.Simulated;
using Orleans;
using Orleans.Hosting;
using Orleans.Runtime;

namespace ActOp.Testing;

/// <summary>One simulated cluster, as a test sees it.</summary>
/// <remarks>
/// A test says how many silos there are, what is configured and what may go wrong, then starts the cluster and calls grains. It belongs to
/// one run and is used on the thread of the simulation only.
/// </remarks>
public sealed class SimulationWorld
{
    private readonly SimulatedRun _run;

    internal SimulationWorld(SimulatedRun run)
    {
        _run = run;
        Silos = new SimulationSilos(run);
        Faults = new SimulationFaults(run);
    }

    /// <summary>The number from which everything of the run follows.</summary>
    public ulong Seed => _run.Seed;

    /// <summary>The silos, and their configuration.</summary>
    public SimulationSilos Silos { get; }

    /// <summary>Faults that the test makes itself.</summary>
    public SimulationFaults Faults { get; }

    /// <summary>Random numbers for the test, which depend on the seed only.</summary>
    public Random Random => _run.Random;

    /// <summary>Virtual time.</summary>
    public TimeProvider Time => _run.Time;

    /// <summary>The client, outside of the silos. It never fails.</summary>
    /// <exception cref="InvalidOperationException">The cluster has not been started.</exception>
    public IClusterClient Client => _run.Client;

    /// <summary>Makes references to grains, for calls of the client.</summary>
    /// <exception cref="InvalidOperationException">The cluster has not been started.</exception>
    public IGrainFactory Grains => _run.Client;

    /// <summary>Configures the client as the application does. Before <see cref="Start"/>.</summary>
    public void ConfigureClient(Action<IClientBuilder> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        _run.CheckNotStarted();
        _run.ClientConfigurations.Add(configure);
    }

    /// <summary>
    /// Lets things go wrong by chance from the start of the cluster on. The seed draws which of the permitted kinds happen in a run and how
    /// often; in some runs nothing goes wrong. Before <see cref="Start"/>.
    /// </summary>
    /// <param name="crash">Silos end without a farewell, mostly in the middle of a call or of a write, and come back.</param>
    /// <param name="partitions">Silos do not reach each other, or not the client, for a while; links are lost.</param>
    /// <param name="storage">Reads and writes fail, before or after they were done, or are slow.</param>
    /// <param name="pauses">Silos stand still for a while.</param>
    /// <param name="moves">Activations end, or move to another silo, after a call.</param>
    /// <param name="messages">Calls without an answer (<c>[OneWay]</c>) do not arrive.</param>
    /// <param name="duplicates">Calls without an answer, and ticks of reminders, come twice.</param>
    /// <param name="clocks">
    /// The wall clocks of silos, <c>TimeProvider.GetUtcNow</c>, are set forward or back, by seconds or hours. Timers keep their times.
    /// </param>
    public void RandomFaults(
        bool crash = false, bool partitions = false, bool storage = false, bool pauses = false, bool moves = false, bool messages = false,
        bool duplicates = false, bool clocks = false)
    {
        _run.CheckNotStarted();
        _run.Kinds = new RandomFaultKinds
        {
            Crash = crash,
            Partitions = partitions,
            Storage = storage,
            Pauses = pauses,
            Moves = moves,
            Messages = messages,
            Duplicates = duplicates,
            Clocks = clocks,
        };
    }

    /// <summary>Starts the silos and the client, and waits until all of them know each other.</summary>
    /// <exception cref="InvalidOperationException">It was started before, or a silo or the client does not start.</exception>
    public Task Start() => _run.StartAsync();

    /// <summary>Waits in virtual time.</summary>
    public Task Delay(TimeSpan time)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(time, TimeSpan.Zero);
        return _run.DelayAsync(time.Ticks);
    }

    /// <summary>Runs something beside the rest of the test, as another client would: it begins at a moment that the seed draws.</summary>
    /// <param name="name">What the story and an overdue run call it.</param>
    /// <param name="work">What is done.</param>
    public Task Run(string name, Func<Task> work)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(work);
        return _run.BesideAsync(name, work);
    }

    /// <summary>
    /// Does one thing that the test could also do without. A failure is reduced to the commands that it needs, so a command must not
    /// rely on others having run.
    /// </summary>
    /// <param name="text">What the story calls it.</param>
    /// <param name="action">What is done.</param>
    /// <returns>Whether it ran: false where a replay leaves it out.</returns>
    public Task<bool> Command(string text, Func<Task> action)
    {
        ArgumentException.ThrowIfNullOrEmpty(text);
        ArgumentNullException.ThrowIfNull(action);
        return _run.CommandAsync(text, action);
    }

    /// <summary>Ends the run as a failure if the condition does not hold.</summary>
    /// <param name="condition">What must hold now.</param>
    /// <param name="text">What is wrong if it does not hold.</param>
    public void Check(bool condition, string text)
    {
        ArgumentException.ThrowIfNullOrEmpty(text);
        if (!condition)
            throw new CheckFailedException(text);
    }

    /// <summary>
    /// Says what should be so in some run, such as "the cart was abandoned twice". If it is so in none, the exploration fails: it has shown
    /// nothing about it. May be asked often in a run.
    /// </summary>
    /// <param name="condition">Whether it is so now.</param>
    /// <param name="text">The situation.</param>
    public void Sometimes(bool condition, string text)
    {
        ArgumentException.ThrowIfNullOrEmpty(text);
        _run.Situations[text] = condition || _run.Situations.GetValueOrDefault(text);
    }

    /// <summary>A history of calls, which is compared with a model: see <see cref="CallHistory{TModel}"/>.</summary>
    /// <param name="create">Makes the model of an object that nobody has called.</param>
    public CallHistory<TModel> History<TModel>(Func<TModel> create)
    {
        ArgumentNullException.ThrowIfNull(create);
        return new CallHistory<TModel>(_run, create);
    }

    /// <summary>A ledger of what is asked for and what happens: see <see cref="SimulationLedger"/>.</summary>
    /// <param name="name">What a failure calls it, such as "payments".</param>
    public SimulationLedger Ledger(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        return new SimulationLedger(_run, name);
    }

    /// <summary>
    /// Draws calls of a grain, makes them from some clients at a time, and ends the run as a failure if no order of them gives the results
    /// that the model gives. Each call is a command (<see cref="Command"/>), so a failure is reduced to those that it needs.
    /// </summary>
    /// <typeparam name="TGrain">The interface of the grain.</typeparam>
    /// <typeparam name="TModel">
    /// A plain class with the methods that are to be called: the same names and parameters, and results without <see cref="Task"/>. It
    /// begins as a grain does that nobody has called. What the grain refuses, it throws at.
    /// </typeparam>
    /// <param name="grain">The grain. Nothing else may call it meanwhile, and nothing may have changed it before.</param>
    /// <param name="calls">How many calls.</param>
    /// <param name="options">How they are made; null for the defaults.</param>
    /// <exception cref="ArgumentException">
    /// The model has a method that the grain has not, or a parameter for which there is no value.
    /// </exception>
    public Task CheckCommands<TGrain, TModel>(TGrain grain, int calls, SimulationCommands? options = null)
        where TGrain : IAddressable
        where TModel : class, new()
    {
        ArgumentNullException.ThrowIfNull(grain);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(calls);
        options ??= new SimulationCommands();
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(options.Clients);
        ArgumentOutOfRangeException.ThrowIfLessThan(options.Pause, TimeSpan.Zero);
        _run.CheckStarted();
        return new ModelCommands<TGrain, TModel>(_run, grain, options).PlayAsync(calls);
    }

    /// <summary>
    /// From now on, code that comes to a point waits there until <see cref="SimulationBarrier.Release"/>. A point has the text of its line
    /// in the story: <c>runs account/alice.Deposit(5, 10)</c> before a method of a grain begins, <c>has done account/alice.Deposit</c>
    /// before its answer is sent, <c>writes state of account/alice</c>, <c>reads</c> or <c>clears</c> before the storage has the request;
    /// and what a test calls its own points (<see cref="Reach"/>).
    /// </summary>
    /// <param name="point">A part of the text. Of several barriers at a point, the first one holds.</param>
    public SimulationBarrier Barrier(string point)
    {
        ArgumentException.ThrowIfNullOrEmpty(point);
        return _run.Barriers.Add(point);
    }

    /// <summary>A point of the test's own code, where it waits if a <see cref="Barrier"/> says so.</summary>
    public Task Reach(string point)
    {
        ArgumentException.ThrowIfNullOrEmpty(point);
        return _run.Barriers.PassAsync("test", point);
    }

    /// <summary>
    /// Names of the silos that run and have an activation of a grain now, such as <c>silo2.3</c>: after <see cref="Settle"/>, one at most.
    /// </summary>
    /// <exception cref="InvalidOperationException">The cluster has not been started.</exception>
    public IReadOnlyList<string> SilosOf(IAddressable grain)
    {
        ArgumentNullException.ThrowIfNull(grain);
        _run.CheckStarted();
        return _run.SilosOf(grain.GetGrainId());
    }

    /// <summary>Adds a line to the story.</summary>
    public void Note(string text) => _run.Tell("test", text);

    /// <summary>
    /// Ends everything that goes wrong, by chance or by the test, brings all silos back, and waits until all know each other. Nothing goes
    /// wrong by chance afterwards.
    /// </summary>
    public Task Settle() => _run.SettleAsync();
}

/// <summary>How <see cref="SimulationWorld.CheckCommands"/> makes its calls.</summary>
public sealed record SimulationCommands
{
    /// <summary>Clients, each of which makes one call at a time. Default 2: one alone shows no two calls at the same time.</summary>
    public int Clients { get; init; } = 2;

    /// <summary>
    /// The mean time between two calls of a client; each is drawn from 0 to twice as much. Default 10 ms: twenty calls take a tenth of a
    /// second, in which some faults happen.
    /// </summary>
    public TimeSpan Pause { get; init; } = TimeSpan.FromMilliseconds(10);

    /// <summary>
    /// The value of a parameter. Null: small numbers, few strings and identities, and each value of an enumeration, so that calls meet.
    /// </summary>
    public Func<Random, ParameterInfo, object?>? Arguments { get; init; }
}

/// <summary>The silos of a simulated cluster.</summary>
/// <remarks>Used on the thread of the simulation only.</remarks>
public sealed class SimulationSilos
{
    private readonly SimulatedRun _run;

    internal SimulationSilos(SimulatedRun run) => _run = run;

    /// <summary>How many silos start; 1 to 9. Default 3: with two, the end of one leaves no other to talk to.</summary>
    /// <exception cref="ArgumentOutOfRangeException">Less than 1 or more than 9.</exception>
    public int Count
    {
        get => _run.SiloCount;
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegativeOrZero(value);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, 9);
            _run.CheckNotStarted();
            _run.SiloCount = value;
        }
    }

    /// <summary>
    /// Configures each silo as the application does. Storages and the table of reminders that it adds are replaced by simulated ones, which
    /// outlive the silos; clustering and endpoints are those of the simulation. Before the start.
    /// </summary>
    public void Configure(Action<ISiloBuilder> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        _run.CheckNotStarted();
        _run.SiloConfigurations.Add(configure);
    }
}

/// <summary>Faults that a test makes at a moment of its choice. A silo is named by its number, from 1.</summary>
/// <remarks>Used on the thread of the simulation only, after the start of the cluster.</remarks>
public sealed class SimulationFaults
{
    private readonly SimulatedRun _run;

    internal SimulationFaults(SimulatedRun run) => _run = run;

    /// <summary>Ends a silo without a farewell. Does nothing if it is down.</summary>
    public void Crash(int silo) => _run.Crash(Checked(silo), "the test says so");

    /// <summary>Starts a silo that is down. Does nothing if it runs.</summary>
    public void Restart(int silo) => _run.Restart(Checked(silo));

    /// <summary>Two silos do not reach each other any more, until <see cref="Heal"/>.</summary>
    public void Partition(int one, int other) => _run.Part(Checked(one), Checked(other));

    /// <summary>
    /// What one sends to the other waits from now on, in its order, until <see cref="Release"/>. The other direction is open. Probes wait,
    /// too: after some seconds others take a silo that is not heard for dead.
    /// </summary>
    /// <param name="from">The silo that sends; 0 for the client.</param>
    /// <param name="to">The silo that does not receive; 0 for the client.</param>
    public void Hold(int from, int to) => _run.Hold(CheckedNode(from), CheckedNode(to));

    /// <summary>What has waited since <see cref="Hold"/> arrives.</summary>
    /// <param name="from">As in <see cref="Hold"/>.</param>
    /// <param name="to">As in <see cref="Hold"/>.</param>
    public void Release(int from, int to) => _run.Release(CheckedNode(from), CheckedNode(to));

    /// <summary>All reach each other again.</summary>
    public void Heal() => _run.Heal();

    /// <summary>The next write of a grain's state throws.</summary>
    /// <param name="isDone">Whether it is done nevertheless: only its answer is lost.</param>
    public void FailNextWrite(bool isDone) => _run.FailNextWrite(isDone);

    private int CheckedNode(int node)
    {
        if (node != 0)
            return Checked(node);
        _run.CheckStarted();
        return node;
    }

    private int Checked(int silo)
    {
        if (silo < 1 || silo > _run.SiloCount)
        {
            throw new ArgumentOutOfRangeException(
                nameof(silo), silo, "Silos have the numbers 1 to " + _run.SiloCount + "; see SimulationSilos.Count.");
        }

        _run.CheckStarted();
        return silo;
    }
}
