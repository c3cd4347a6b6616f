using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation.Load;

/// <summary>A grain whose calls have large arguments.</summary>
public interface IBulk : IGrainWithIntegerKey
{
    /// <summary>Answers how many bytes it got.</summary>
    Task<int> Take(byte[] bytes);
}

/// <inheritdoc cref="IBulk"/>
internal sealed class Bulk : Grain, IBulk
{
    public Task<int> Take(byte[] bytes) => Task.FromResult(bytes.Length);
}

/// <summary>
/// Calls with arguments of up to 4 MB over links of 1 MB/s. The control frames of a silo must not wait behind them: a silo that is only
/// busy is not evicted.
/// </summary>
internal sealed class BulkLoad(World.World world, Ledger ledger)
{
    internal const int MostBytes = 4 << 20;

    private const int CallersPerMachine = 2;
    private const int Grains = 20;

    private readonly Dice _dice = world.Dice.Fork("bulk");
    private bool _isOver;

    internal void End() => _isOver = true;

    internal void Begin(Machine machine)
    {
        for (var caller = 0; caller < CallersPerMachine; caller++)
            _ = LoopAsync(machine);
    }

    private async Task LoopAsync(Machine machine)
    {
        while (!_isOver && machine is { State: MachineState.Up, IsDead: false })
        {
            await Task.Delay(TimeSpan.FromTicks(1 + _dice.Exponential(200 * Pump.Millisecond)), machine.AppClock);
            if (_isOver || machine is not { State: MachineState.Up, IsDead: false })
                return;
            await CallAsync(machine, _dice.Below(Grains), new byte[_dice.Chance(0.3) ? MostBytes : _dice.Below(MostBytes)]);
        }
    }

    private async Task CallAsync(Machine machine, long number, byte[] bytes)
    {
        var ticket = ledger.Open(number, "Bulk", machine);
        Exception? failure = null;
        try
        {
            if (await machine.Grains.GetGrain<IBulk>(number).Take(bytes) != bytes.Length)
                ledger.Accuse("linear", "The bulk call " + ticket.Id + " has lost bytes.");
            ledger.Count("bulk MB", bytes.Length >> 20);
        }
        catch (Exception exception)
        {
            failure = exception;
        }

        if (!machine.IsDead && !ticket.HasEnded)
            ledger.Close(ticket, null, failure);
    }
}
