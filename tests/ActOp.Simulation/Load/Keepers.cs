using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Storage;

namespace ActOp.Simulation.Load;

/// <summary>A grain that keeps ids in storage.</summary>
public interface IKeeper : IGrainWithIntegerKey
{
    /// <summary>Returns when the id is stored.</summary>
    Task Keep(long id);

    /// <summary>The ids that the grain has.</summary>
    Task<long[]> Kept();

    /// <summary>Ends the activation.</summary>
    Task Leave();

    /// <summary>Moves the activation to another silo.</summary>
    Task Move();
}

/// <summary>What a keeper keeps.</summary>
[GenerateSerializer]
public sealed class KeptIds
{
    /// <summary>The ids, in the order of their arrival.</summary>
    [Id(0)]
    public List<long> Ids { get; set; } = [];
}

/// <inheritdoc cref="IKeeper"/>
internal sealed class Keeper(KeeperLoad load, [PersistentState("ids", KeeperLoad.Storage)] IPersistentState<KeptIds> state)
    : Grain, IKeeper
{
    public override Task OnActivateAsync(CancellationToken cancellationToken)
    {
        load.Began(GrainContext, state);
        return Task.CompletedTask;
    }

    public async Task Keep(long id)
    {
        load.Serves(GrainContext);
        state.State.Ids.Add(id);
        try
        {
            await state.WriteStateAsync();
        }
        catch (InconsistentStateException)
        {
            load.Conflicted(GrainContext);
            throw;
        }
    }

    public Task<long[]> Kept()
    {
        load.Serves(GrainContext);
        return Task.FromResult(state.State.Ids.ToArray());
    }

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
}

/// <summary>
/// Grains that write states while silos end and grains move, and what must hold: no acknowledged id is lost, an activation whose state is
/// outdated serves nobody, and a state has at least what the store has at its version.
/// </summary>
internal sealed class KeeperLoad(World.World world, Ledger ledger)
{
    internal const string Storage = "store";

    /// <summary>A write could not be done; expected.</summary>
    internal const int OperationFailed = 1120;

    private readonly Dice _dice = world.Dice.Fork("keepers");
    private readonly Dictionary<long, HashSet<long>> _acknowledged = [];
    private readonly HashSet<ActivationId> _outdated = [];
    private long _ids;
    private bool _isOver;

    internal Store Store { get; } = new(world.Pump, world.Dice.Fork("store"));

    private static int Count => 8;

    internal void Configure(Machine machine, IServiceCollection services)
    {
        services.AddSingleton(this);
        services.AddKeyedSingleton<IGrainStorage>(Storage, new MachineStorage(Store, machine));
    }

    /// <summary>The store is unreliable from now on.</summary>
    internal void BeginFaults()
    {
        Store.Refusals = _dice.Pick<double>([0, 0.02, 0.2]);
        Store.LostAnswers = _dice.Pick<double>([0, 0.02, 0.1]);
        Store.Delays = _dice.Pick<double>([0, 0.01, 0.1]);
    }

    internal void EndFaults() => (Store.Refusals, Store.LostAnswers, Store.Delays) = (0, 0, 0);

    internal void End() => _isOver = true;

    internal void Begin(Machine machine) => _ = LoopAsync(machine);

    /// <summary>An activation has its state.</summary>
    internal void Began(IGrainContext grain, IPersistentState<KeptIds> state)
    {
        var key = grain.GrainId.ToString();
        if (state.Etag is not { } etag)
            return;
        if (Store.At<KeptIds>(key, etag) is not { } stored)
            ledger.Accuse("state", key + " begins with the version " + etag + ", which the store has never had.");
        else if (!state.State.Ids.ToHashSet().IsSupersetOf(stored.Ids))
            ledger.Accuse("state", key + " begins with less than its version " + etag + " has.");
        else if (state.State.Ids.Count > stored.Ids.Count)
            ledger.Count("keeper carried unwritten ids");
    }

    internal void Conflicted(IGrainContext grain) => _outdated.Add(grain.ActivationId);

    internal void Serves(IGrainContext grain)
    {
        if (_outdated.Contains(grain.ActivationId))
            ledger.Accuse("outdated", grain.GrainId + " serves a call though a conflict has left this activation.");
    }

    /// <summary>Nobody writes any more: what was acknowledged is in the store.</summary>
    internal void CheckStore()
    {
        ledger.Count("store writes", Store.Writes.Done);
        ledger.Count("store conflicts", Store.Writes.Conflicts);
        foreach (var (number, ids) in _acknowledged)
        {
            var key = world.Silos.First().Grains.GetGrain<IKeeper>(number).GetGrainId().ToString();
            var stored = Store.Peek<KeptIds>(key)?.Ids.ToHashSet() ?? [];
            if (!ids.IsSubsetOf(stored))
            {
                ledger.Accuse(
                    "lost write", key + " has lost ids that were acknowledged: " + string.Join(" ", ids.Except(stored).Take(5)) + ".");
            }
        }
    }

    private async Task LoopAsync(Machine machine)
    {
        while (!_isOver && machine is { State: MachineState.Up, IsDead: false })
        {
            await Task.Delay(TimeSpan.FromTicks(Math.Max(1, _dice.Exponential(60 * Pump.Millisecond))), machine.AppClock);
            if (_isOver || machine is not { State: MachineState.Up, IsDead: false })
                return;
            await CallAsync(machine, 1 + _dice.Below(Count));
        }
    }

    private async Task CallAsync(Machine machine, long number)
    {
        var grain = machine.Grains.GetGrain<IKeeper>(number);
        try
        {
            switch (_dice.Below(12))
            {
                case 0:
                    await grain.Leave();
                    break;
                case 1 or 2:
                    await grain.Move();
                    break;
                case 3:
                    Check(number, await grain.Kept());
                    break;
                default:
                    var id = ++_ids;
                    await grain.Keep(id);
                    if (!_acknowledged.TryGetValue(number, out var ids))
                        _acknowledged[number] = ids = [];
                    ids.Add(id);
                    ledger.Count("keeper ok");
                    break;
            }
        }
        catch (Exception exception) when (IsExpected(exception))
        {
            ledger.Count("keeper " + (exception.InnerException ?? exception).GetType().Name);
        }
        catch (Exception exception)
        {
            ledger.Accuse("exception", "A call to keeper " + number + " has ended with " + exception);
        }
    }

    /// <summary>What a grain answers may be old where two silos believe that they have it, but never invented.</summary>
    private void Check(long number, long[] kept)
    {
        if (kept.Any(id => id > _ids))
            ledger.Accuse("state", "Keeper " + number + " has an id that nobody has sent.");
    }

    private static bool IsExpected(Exception exception) =>
        exception is TimeoutException or SiloUnavailableException or OrleansMessageRejectionException or ClientNotAvailableException
            or LimitExceededException or InconsistentStateException or OperationCanceledException or ObjectDisposedException
        || exception is OrleansException { InnerException: IOException };
}
