using ActOp.Simulation.Checks;
using ActOp.Simulation.World;

namespace ActOp.Simulation.Load;

/// <summary>Told by a counter of what it has applied.</summary>
public interface ICounterWatcher : IGrainObserver
{
    /// <summary>The counter has applied <paramref name="id"/>.</summary>
    [OneWay]
    Task Applied(long counter, long id);
}

/// <summary>A grain whose state is the set of ids that it was given, each of them once.</summary>
public interface ICounter : IGrainWithIntegerKey
{
    /// <summary>Applies an id; returns how many there are.</summary>
    ValueTask<int> Add(long id);

    /// <summary>Applies an id after a pause, during which other calls wait.</summary>
    Task<int> AddSlowly(long id, int milliseconds);

    /// <summary>Applies an id; nobody waits for it.</summary>
    [OneWay]
    Task Drop(long id);

    /// <summary>Has the last of the grains on the way apply the id; each of them waits for the next.</summary>
    Task<int> Relay(long[] way, int step, long id);

    /// <summary>How many ids there are.</summary>
    [ReadOnly]
    ValueTask<int> Count();

    /// <summary>Ends the activation; its ids are forgotten.</summary>
    Task Leave();

    /// <summary>Moves the activation to another silo.</summary>
    Task Move();

    /// <summary>Tells a watcher of the ids to come.</summary>
    Task Watch(ICounterWatcher watcher);
}

/// <summary>Keeps its ids in memory, carries them along when it moves, and tells the ledger of everything.</summary>
internal sealed class Counter(Machine machine, Ledger ledger, TimeProvider time) : Grain, ICounter, IGrainMigrationParticipant
{
    private readonly HashSet<long> _ids = [];
    private readonly List<ICounterWatcher> _watchers = [];
    private Life? _life;
    private long _carriedFrom;

    private long Key => this.GetPrimaryKeyLong();

    public override Task OnActivateAsync(CancellationToken cancellationToken)
    {
        _life = ledger.Begin(Key, machine, _carriedFrom, _ids);
        if (Key % 3 == 0)
            this.RegisterGrainTimer(Tick, TimeSpan.FromMilliseconds(300), TimeSpan.FromMilliseconds(300));
        return Task.CompletedTask;
    }

    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
    {
        ledger.End(_life!, reason);
        return Task.CompletedTask;
    }

    public void OnDehydrate(IDehydrationContext dehydrationContext)
    {
        dehydrationContext.TryAddValue("ids", _ids.ToArray());
        dehydrationContext.TryAddValue("life", _life!.Number);
    }

    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
        if (rehydrationContext.TryGetValue<long[]>("ids", out var ids))
            _ids.UnionWith(ids!);
        rehydrationContext.TryGetValue("life", out _carriedFrom);
    }

    public ValueTask<int> Add(long id)
    {
        Apply(id);
        return new(_ids.Count);
    }

    public async Task<int> AddSlowly(long id, int milliseconds)
    {
        await Task.Delay(TimeSpan.FromMilliseconds(milliseconds), time);
        Apply(id);
        return _ids.Count;
    }

    public Task Drop(long id)
    {
        Apply(id);
        return Task.CompletedTask;
    }

    public async Task<int> Relay(long[] way, int step, long id)
    {
        if (step >= way.Length)
        {
            Apply(id);
            return _ids.Count;
        }

        using var section = RequestContext.AllowCallChainReentrancy();
        return await GrainFactory.GetGrain<ICounter>(way[step]).Relay(way, step + 1, id);
    }

    public ValueTask<int> Count() => new(_ids.Count);

    public Task Leave()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }

    public Task Move()
    {
        MigrateOnIdle();
        return Task.CompletedTask;
    }

    public Task Watch(ICounterWatcher watcher)
    {
        if (_watchers.Count < 5)
            _watchers.Add(watcher);
        return Task.CompletedTask;
    }

    private Task Tick(CancellationToken cancellation)
    {
        ledger.Tick(_life!);
        return Task.CompletedTask;
    }

    private void Apply(long id)
    {
        ledger.Apply(_life!, id);
        if (!_ids.Add(id))
            ledger.Accuse("twice", "The counter " + Key + " got the id " + id + " twice.");
        foreach (var watcher in _watchers)
            _ = watcher.Applied(Key, id);
    }
}
