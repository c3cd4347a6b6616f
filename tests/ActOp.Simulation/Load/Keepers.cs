using System.Text.Json;
using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Storage;

namespace ActOp.Simulation.Load;

/// <summary>A grain that keeps ids in storage.</summary>
public interface IKeeper : IGrainWithIntegerKey
{
    /// <summary>Returns when the id is stored.</summary>
    Task Keep(long id);

    /// <summary>The same while other calls run.</summary>
    [AlwaysInterleave]
    Task KeepBeside(long id);

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

    /// <summary>The activation that has written them.</summary>
    [Id(1)]
    public string Writer { get; set; } = "";
}

/// <inheritdoc cref="IKeeper"/>
internal sealed class Keeper(KeeperLoad load, [PersistentState("ids", KeeperLoad.Storage)] IPersistentState<KeptIds> state)
    : Grain, IKeeper, IGrainMigrationParticipant
{
    private bool _hasMoved;
    private int _running;

    public void OnDehydrate(IDehydrationContext dehydrationContext)
    {
    }

    public void OnRehydrate(IRehydrationContext rehydrationContext) => _hasMoved = true;

    public override Task OnActivateAsync(CancellationToken cancellationToken)
    {
        load.Began(GrainContext, state, _hasMoved);
        return Task.CompletedTask;
    }

    public Task KeepBeside(long id) => Keep(id);

    public async Task Keep(long id)
    {
        load.Serves(GrainContext, _running > 0);
        state.State.Ids.Add(id);
        state.State.Writer = GrainContext.ActivationId.ToString();
        _running++;
        try
        {
            await state.WriteStateAsync();
        }
        catch (InconsistentStateException)
        {
            load.Conflicted(GrainContext);
            throw;
        }
        finally
        {
            _running--;
        }
    }

    public Task<long[]> Kept()
    {
        load.Serves(GrainContext, _running > 0);
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
/// outdated serves nobody, a state has at least what the store has at its version, and of two activations that write only one is the newer.
/// </summary>
internal sealed class KeeperLoad(World.World world, Ledger ledger, KeeperStore store)
{
    internal const string Storage = "store";

    /// <summary>A write could not be done; expected.</summary>
    internal const int OperationFailed = 1120;

    private readonly Dice _dice = world.Dice.Fork("keepers");
    private readonly Dictionary<long, HashSet<long>> _acknowledged = [];
    private readonly Dictionary<string, HashSet<long>> _acknowledgedOf = [];
    private readonly HashSet<ActivationId> _outdated = [];
    private readonly Dictionary<string, List<string>> _writers = [];
    private long _ids;
    private bool _isCalm;
    private bool _isOver;

    internal KeeperStore Store => store;

    private static int Count => 8;

    internal void Configure(Machine machine, IServiceCollection services)
    {
        (Store.Written, Store.Accuse) = (CheckWritten, ledger.Accuse);
        services.AddSingleton(this);
        services.AddSingleton(machine);
        Store.Configure(machine, services, Storage);
    }

    /// <summary>The store is unreliable from now on.</summary>
    internal void BeginFaults()
    {
        Store.BeginFaults(_dice, world.IsCalm);
        if (world.IsCalm)
            return;
        world.Pump.After(_dice.Exponential(8 * Pump.Second), null, EventKind.Fault, "store", BeginTrouble);
    }

    internal void EndFaults()
    {
        _isCalm = true;
        Store.EndFaults();
    }

    internal void End() => _isOver = true;

    internal void Begin(Machine machine) => _ = LoopAsync(machine);

    /// <summary>An activation has its state.</summary>
    internal void Began(IGrainContext grain, IPersistentState<KeptIds> state, bool hasMoved)
    {
        var key = grain.GrainId.ToString();
        if (state.Etag is not { } etag)
        {
            var machine = grain.ActivationServices.GetRequiredService<Machine>();
            if (!hasMoved && !Store.HasFoundNothing(machine, key))
                ledger.Accuse("state", key + " begins without a version, but the store has never said that there is none.");
            return;
        }

        if (Store.At<KeptIds>(key, etag) is not { } stored)
            ledger.Accuse("state", key + " begins with the version " + etag + ", which the store has never had.");
        else if (!state.State.Ids.ToHashSet().IsSupersetOf(stored.Ids))
            ledger.Accuse("state", key + " begins with less than its version " + etag + " has.");
        else if (state.State.Ids.Count > stored.Ids.Count)
            ledger.Count("keeper carried unwritten ids");
    }

    internal void Conflicted(IGrainContext grain) => _outdated.Add(grain.ActivationId);

    /// <summary>A call starts; beside one that runs it may, because that one may wait for it.</summary>
    internal void Serves(IGrainContext grain, bool isBeside)
    {
        if (!isBeside && _outdated.Contains(grain.ActivationId))
            ledger.Accuse("outdated", grain.GrainId + " serves a call though a conflict has left this activation.");
    }

    /// <summary>A record has all that was acknowledged before, and is of the same activation as the last one or of a new one.</summary>
    private void CheckWritten(string key, string json)
    {
        var record = JsonSerializer.Deserialize<KeptIds>(json)!;
        if (_acknowledgedOf.TryGetValue(key, out var ids) && !ids.IsSubsetOf(record.Ids))
        {
            ledger.Accuse("lost write", key + " was written without ids that were acknowledged: "
                + string.Join(" ", ids.Except(record.Ids).Take(5)) + ".");
        }

        if (!_writers.TryGetValue(key, out var writers))
            _writers[key] = writers = [];
        if (writers.Count > 0 && writers[^1] == record.Writer)
            return;
        if (writers.Contains(record.Writer))
            ledger.Accuse("two writers", key + " was written by " + record.Writer + " after a newer activation had written it.");
        writers.Add(record.Writer);
    }

    /// <summary>An id is acknowledged: it is stored.</summary>
    private void Acknowledge(long number, IKeeper grain, long id)
    {
        var key = grain.GetGrainId().ToString();
        if (Store.Peek<KeptIds>(key)?.Ids.Contains(id) != true)
            ledger.Accuse("lost write", key + " has acknowledged " + id + ", which the store does not have.");
        if (!_acknowledged.TryGetValue(number, out var ids))
            _acknowledged[number] = _acknowledgedOf[key] = ids = [];
        ids.Add(id);
        ledger.Count("keeper ok");
    }

    /// <summary>The store is away or full for a while, now and then.</summary>
    private void BeginTrouble()
    {
        if (_isCalm)
            return;
        Store.Trouble = _dice.Pick<StoreTrouble>([StoreTrouble.Refuses, StoreTrouble.Hangs, StoreTrouble.Full]);
        ledger.Count("store " + Store.Trouble);
        world.Pump.After(_dice.Between(Pump.Second / 2, 10 * Pump.Second), null, EventKind.Fault, "store again", () =>
        {
            Store.Trouble = StoreTrouble.None;
            if (!_isCalm)
                world.Pump.After(_dice.Exponential(8 * Pump.Second), null, EventKind.Fault, "store", BeginTrouble);
        });
    }

    /// <summary>Nobody writes any more: what was acknowledged is in the store.</summary>
    internal void CheckStore()
    {
        foreach (var (name, count) in Store.Counts)
            ledger.Count(name, count);
        if (world.IsCalm && Store.Writes.Conflicts > 0)
            ledger.Accuse("needless", Store.Writes.Conflicts + " writes found another version though nothing was wrong.");
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
                    await (_dice.Chance(0.3) ? grain.KeepBeside(id) : grain.Keep(id));
                    Acknowledge(number, grain, id);
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
