using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;
using Orleans.Runtime.Placement;

namespace ActOp.Simulation.Load;

/// <summary>A grain whose state is the set of ids that it was given, each of them once.</summary>
public interface ITally : IGrainWithIntegerKey
{
    /// <summary>Applies an id; returns how many there are.</summary>
    ValueTask<int> Add(long id);

    /// <summary>How many ids there are; <paramref name="id"/> names the question.</summary>
    [ReadOnly]
    ValueTask<int> Count(long id);
}

/// <summary>Told by a counter of what it has applied.</summary>
public interface ICounterWatcher : IGrainObserver
{
    /// <summary>The counter has applied <paramref name="id"/>.</summary>
    [OneWay]
    Task Applied(long counter, long id);
}

/// <summary>A tally that carries its ids along when it moves.</summary>
public interface ICounter : ITally
{
    /// <summary>Applies an id after a pause, during which other calls wait.</summary>
    Task<int> AddSlowly(long id, int milliseconds);

    /// <summary>Applies an id; nobody waits for it.</summary>
    [OneWay]
    Task Drop(long id);

    /// <summary>Has the last of the grains on the way apply the id; each of them waits for the next.</summary>
    Task<int> Relay(long[] way, int step, long id);

    /// <summary>Ends the activation; its ids are forgotten, unless the counter is one that moves instead.</summary>
    Task Leave();

    /// <summary>Moves the activation to another silo.</summary>
    [OneWay]
    Task Move();

    /// <summary>Tells a watcher of the ids to come.</summary>
    Task Watch(ICounterWatcher watcher);
}

/// <summary>A tally that carries nothing: locality must leave it where it is.</summary>
public interface IDesk : ITally;

/// <summary>Tells its players, and its desk, of each move.</summary>
public interface IGame : ITally
{
    /// <summary>Applies an id, and has each player and the desk apply one of their own.</summary>
    Task<int> Play(long id);

    /// <summary>A counter takes part from now on, in place of the one that has for longest when there are too many.</summary>
    Task Seat(long player);
}

/// <summary>Has no state.</summary>
public interface IEcho : IGrainWithIntegerKey
{
    /// <summary>Answers the id.</summary>
    Task<long> Say(long id);
}

/// <summary>What the workload's grains are numbered by: their key and what kind they are.</summary>
internal static class Numbers
{
    internal const long FirstDesk = 1_000;
    internal const long FirstGame = 2_000;

    /// <summary>The request context's name of the id that a call is about.</summary>
    internal const string Ticket = "ticket";

    /// <summary>The request context's name of something that the callee changes.</summary>
    internal const string Bag = "bag";

    internal static ITally Tally(IGrainFactory grains, long number) =>
        number >= FirstGame ? grains.GetGrain<IGame>(number - FirstGame)
        : number >= FirstDesk ? grains.GetGrain<IDesk>(number - FirstDesk)
        : grains.GetGrain<ICounter>(number);

    internal static GrainId IdOf(IGrainFactory grains, long number) => Tally(grains, number).GetGrainId();

    /// <summary>Counters that tick.</summary>
    internal static bool HasTimer(long number) => number < FirstDesk && number % 3 == 0;

    /// <summary>Counters that move when they are asked to end.</summary>
    internal static bool MovesAtTheEnd(long number) => number < FirstDesk && number % 4 == 1;
}

/// <summary>Keeps its ids in memory and tells the ledger of everything.</summary>
internal abstract class Tally(Machine machine, Ledger ledger, long first) : Grain, ITally
{
    private protected Ledger Ledger => ledger;

    private protected Machine Machine => machine;

    private protected HashSet<long> Ids { get; } = [];

    private protected Life? Life { get; private set; }

    private protected long CarriedFrom { get; set; }

    private protected long Number => first + this.GetPrimaryKeyLong();

    public override async Task OnActivateAsync(CancellationToken cancellationToken)
    {
        if (ledger.BeginsSlowly(Number) is > 0 and var pause)
            await Task.Delay(TimeSpan.FromMilliseconds(pause), machine.AppClock, cancellationToken);
        // Before the life begins: what the hook spoils has never been.
        await ledger.HookAsync(machine, Number);
        Life = ledger.Begin(Number, machine, CarriedFrom, Ids);
        if (ledger.EndsAtOnce())
        {
            Life.MustNotServe = true;
            DeactivateOnIdle();
        }
    }

    public override async Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
    {
        if (Life is not { } life)
            return;
        if (reason.ReasonCode == DeactivationReasonCode.ApplicationRequested && Numbers.MovesAtTheEnd(Number)
            && ledger.AnotherSilo(machine) is { } target)
        {
            life.GoesTo = Machine.HostOf(target.Endpoint);
            RequestContext.Set(IPlacementDirector.PlacementHintKey, target);
            MigrateOnIdle();
        }

        ledger.End(life, reason);
        await ledger.HookAsync(machine, 0);
    }

    public ValueTask<int> Add(long id)
    {
        CheckContext(id);
        return new(Apply(id));
    }

    public ValueTask<int> Count(long id)
    {
        CheckContext(id);
        return new(ledger.Read(Life!, id));
    }

    private protected virtual int Apply(long id)
    {
        if (!Ids.Add(id))
            ledger.Accuse("twice", "The grain " + Number + " got the id " + id + " twice.");
        ledger.Apply(Life!, id);
        return Ids.Count;
    }

    private protected void CheckContext(long id)
    {
        if (RequestContext.Get(Numbers.Ticket) is not long told || told != id)
        {
            ledger.Accuse(
                "context", "The call " + id + " to grain " + Number + " has the request context of the call " +
                    RequestContext.Get(Numbers.Ticket) + ".");
        }

        if (RequestContext.Get(Numbers.Bag) is List<long> bag)
            bag.Add(id);
    }

    private protected void Dehydrate(IDehydrationContext context)
    {
        context.TryAddValue("ids", Ids.ToArray());
        context.TryAddValue("life", Life!.Number);
    }

    private protected void Rehydrate(IRehydrationContext context)
    {
        if (context.TryGetValue<long[]>("ids", out var ids))
            Ids.UnionWith(ids!);
        CarriedFrom = context.TryGetValue<long>("life", out var life) ? life : 0;
    }
}

/// <inheritdoc cref="ICounter"/>
internal sealed class Counter(Machine machine, Ledger ledger) : Tally(machine, ledger, 0), ICounter, IGrainMigrationParticipant
{
    private readonly List<ICounterWatcher> _watchers = [];

    public override async Task OnActivateAsync(CancellationToken cancellationToken)
    {
        await base.OnActivateAsync(cancellationToken);
        if (Numbers.HasTimer(Number))
            this.RegisterGrainTimer(Tick, TimeSpan.FromMilliseconds(300), TimeSpan.FromMilliseconds(300));
    }

    public void OnDehydrate(IDehydrationContext dehydrationContext) => Dehydrate(dehydrationContext);

    public void OnRehydrate(IRehydrationContext rehydrationContext) => Rehydrate(rehydrationContext);

    public async Task<int> AddSlowly(long id, int milliseconds)
    {
        Ledger.Use(Life!);
        Ledger.Causes.Busy(Number, (milliseconds * Pump.Millisecond) + Pump.Second);
        await Task.Delay(TimeSpan.FromMilliseconds(milliseconds), Machine.AppClock);
        Ledger.CheckMailbox(GrainContext);
        CheckContext(id);
        return Apply(id);
    }

    public Task Drop(long id)
    {
        Apply(id);
        return Task.CompletedTask;
    }

    public async Task<int> Relay(long[] way, int step, long id)
    {
        CheckContext(id);
        if (step >= way.Length)
            return Apply(id);
        Ledger.Use(Life!);
        Ledger.Causes.Waits(Number);
        using var section = RequestContext.AllowCallChainReentrancy();
        return await GrainFactory.GetGrain<ICounter>(way[step]).Relay(way, step + 1, id);
    }

    public Task Leave()
    {
        Ledger.Use(Life!);
        DeactivateOnIdle();
        return Task.CompletedTask;
    }

    public Task Move()
    {
        Ledger.Use(Life!);
        MigrateOnIdle();
        return Task.CompletedTask;
    }

    public Task Watch(ICounterWatcher watcher)
    {
        Ledger.Use(Life!);
        if (_watchers.Count < 5 && !_watchers.Contains(watcher))
            _watchers.Add(watcher);
        return Task.CompletedTask;
    }

    private protected override int Apply(long id)
    {
        var count = base.Apply(id);
        foreach (var watcher in _watchers)
        {
            Ledger.Notes++;
            _ = watcher.Applied(Number, id);
        }

        return count;
    }

    private Task Tick(CancellationToken cancellation)
    {
        Ledger.Tick(Life!);
        return Task.CompletedTask;
    }
}

/// <inheritdoc cref="IDesk"/>
internal sealed class Desk(Machine machine, Ledger ledger) : Tally(machine, ledger, Numbers.FirstDesk), IDesk;

/// <inheritdoc cref="IGame"/>
internal sealed class Game(Machine machine, Ledger ledger) : Tally(machine, ledger, Numbers.FirstGame), IGame, IGrainMigrationParticipant
{
    private const int MostPlayers = 3;

    private readonly List<long> _players = [];

    public void OnDehydrate(IDehydrationContext dehydrationContext)
    {
        Dehydrate(dehydrationContext);
        dehydrationContext.TryAddValue("players", _players.ToArray());
    }

    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
        Rehydrate(rehydrationContext);
        if (rehydrationContext.TryGetValue<long[]>("players", out var players))
            _players.AddRange(players!);
    }

    public async Task<int> Play(long id)
    {
        CheckContext(id);
        var count = Apply(id);
        Ledger.Causes.Waits(Number);
        foreach (var player in _players.ToArray())
            await TellAsync(GrainFactory.GetGrain<ICounter>(player));
        await TellAsync(GrainFactory.GetGrain<IDesk>(this.GetPrimaryKeyLong()));
        return count;
    }

    public Task Seat(long player)
    {
        Ledger.Use(Life!);
        if (!_players.Contains(player))
            _players.Add(player);
        if (_players.Count > MostPlayers)
            _players.RemoveAt(0);
        return Task.CompletedTask;
    }

    private async Task TellAsync(ITally other)
    {
        var id = Ledger.NextId();
        RequestContext.Set(Numbers.Ticket, id);
        await other.Add(id);
    }
}

/// <inheritdoc cref="IEcho"/>
[StatelessWorker(2)]
internal sealed class Echo(Machine machine, Ledger ledger) : Grain, IEcho
{
    public async Task<long> Say(long id)
    {
        await Task.Delay(TimeSpan.FromMilliseconds(1), machine.AppClock);
        if (RequestContext.Get(Numbers.Ticket) is not long told || told != id)
        {
            ledger.Accuse(
                "context", "The call " + id + " to a worker has the request context of the call " + RequestContext.Get(Numbers.Ticket) +
                    ".");
        }

        if (RequestContext.Get(Numbers.Bag) is List<long> bag)
            bag.Add(id);
        return id;
    }
}
