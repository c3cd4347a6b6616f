using System.Runtime.InteropServices;
using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation.Load;

/// <summary>Takes and gives large arguments.</summary>
public interface IDepot : IGrainWithIntegerKey
{
    /// <summary>Checks what came, and answers <paramref name="wanted"/> bytes.</summary>
    Task<byte[]> Take(long id, int length, byte[] bytes, int wanted);
}

/// <inheritdoc cref="IDepot"/>
internal sealed class Depot(Ledger ledger) : Grain, IDepot
{
    public Task<byte[]> Take(long id, int length, byte[] bytes, int wanted)
    {
        if (!Parcels.Holds(bytes, id, length))
            ledger.Accuse("content", "The large argument of the call " + id + " has arrived changed.");
        return Task.FromResult(Parcels.Of(-id, wanted));
    }
}

/// <summary>
/// Calls whose argument and result are large, now and then some MB: they fill links, make senders wait for room, and come in many pieces.
/// All bytes are checked on arrival.
/// </summary>
internal sealed class Parcels(World.World world, Ledger ledger)
{
    internal const int Depots = 3;

    private const int MostBytes = 4 << 20;
    private const int OftenBytes = 4 << 10;
    private const int SometimesBytes = 64 << 10;

    private readonly Dice _dice = world.Dice.Fork("parcels");

    /// <summary>What a link carries in a second, about: as much as it has room for on each way there and back.</summary>
    private long Rate
    {
        get
        {
            var (latency, jitter, buffer, _, rate) = world.Settings.Wires;
            var window = buffer * Pump.Second / ((2 * latency) + jitter + world.Settings.Pace.Wait);
            return rate == 0 ? window : Math.Min(rate, window);
        }
    }

    /// <summary>In a calm run no call may time out behind large ones.</summary>
    private int Largest =>
        (int)Math.Min(MostBytes, Rate * world.Settings.ResponseTimeout.Ticks / Pump.Second / (world.IsCalm ? 40 : 2));

    /// <summary>The content of a parcel: others cannot be taken for it.</summary>
    internal static byte[] Of(long id, int length)
    {
        var bytes = new byte[length];
        var dice = new Dice((ulong)id);
        foreach (ref var word in MemoryMarshal.Cast<byte, ulong>(bytes.AsSpan()))
            word = dice.Next();
        foreach (ref var last in bytes.AsSpan(length & ~7))
            last = (byte)id;
        return bytes;
    }

    internal static bool Holds(byte[] bytes, long id, int length) => bytes.Length == length && bytes.AsSpan().SequenceEqual(Of(id, length));

    internal async Task SendAsync(Machine machine, long number, long id)
    {
        var (length, wanted) = (Length(), Length());
        // Others wait behind it, on links that have as much to carry already.
        world.Pump.Note(machine, EventKind.Load, "parcel " + length + " " + wanted);
        ledger.Causes.Large(world.Settings.ResponseTimeout.Ticks + (4 * (length + (long)wanted) * Pump.Second / Rate));
        var answer = await machine.Grains.GetGrain<IDepot>(number % Depots).Take(id, length, Of(id, length), wanted);
        if (!Holds(answer, -id, wanted))
            ledger.Accuse("content", "The large result of the call " + id + " has arrived changed.");
        ledger.Count("parcel KB", (length + wanted) >> 10);
    }

    private int Length() =>
        _dice.Below(1 + Math.Min(Largest, _dice.Chance(0.05) ? MostBytes : _dice.Chance(0.3) ? SometimesBytes : OftenBytes));
}
