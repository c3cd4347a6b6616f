using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;
using Orleans.Storage;

namespace ActOp.Simulation.Load;

/// <summary>
/// Code of the application on all silos that uses the storage of grains without being a grain: it reads, writes and clears a few records,
/// each time with the version that it has, however old that is. So several writers meet in each record. Records are read more often than
/// they are changed, so what a process has left is found before the next change. The storage says what must not be.
/// </summary>
internal sealed class DraftLoad(World.World world, Ledger ledger)
{
    private const string State = "draft";
    private const int Count = 4;
    private const int EditorsPerSilo = 2;

    /// <summary>Ids in a record, at most.</summary>
    private const int MostIds = 20;

    private readonly Dice _dice = world.Dice.Fork("drafts");
    private long _ids;
    private bool _isOver;

    internal void End() => _isOver = true;

    internal void Begin(Machine machine)
    {
        for (var editor = 0; machine.IsSilo && editor < EditorsPerSilo; editor++)
            _ = LoopAsync(machine);
    }

    private async Task LoopAsync(Machine machine)
    {
        var storage = machine.Service<IGrainStorage>(FileStore.Drafts);
        var copies = Enumerable.Range(1, Count).Select(static _ => new GrainState<KeptIds>(new KeptIds())).ToArray();
        while (true)
        {
            await Task.Delay(TimeSpan.FromTicks(1 + _dice.Exponential(200 * Pump.Millisecond)), machine.AppClock);
            if (_isOver || machine is not { State: MachineState.Up, IsDead: false })
                return;
            var number = _dice.Below(Count);
            await EditAsync(machine, storage, GrainId.Create("draft", number.ToString("x")), copies[number]);
        }
    }

    private async Task EditAsync(Machine machine, IGrainStorage storage, GrainId id, GrainState<KeptIds> copy)
    {
        try
        {
            switch (_dice.Below(10))
            {
                case 0:
                    await storage.ClearStateAsync(State, id, copy);
                    ledger.Count("draft cleared");
                    break;
                case < 4:
                    copy.State!.Ids.Add(++_ids);
                    if (copy.State.Ids.Count > MostIds)
                        copy.State.Ids.RemoveAt(0);
                    await storage.WriteStateAsync(State, id, copy);
                    ledger.Count("draft written");
                    break;
                default:
                    await storage.ReadStateAsync(State, id, copy);
                    ledger.Count("draft read");
                    break;
            }
        }
        catch (Exception exception) when (machine.IsDead || exception is InconsistentStateException or IOException or OrleansException)
        {
            ledger.Count("draft " + exception.GetType().Name);
        }
        catch (Exception exception)
        {
            ledger.Accuse("exception", "An operation on " + id + " has ended with " + exception);
        }
    }
}
