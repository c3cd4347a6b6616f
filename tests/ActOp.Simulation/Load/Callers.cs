using ActOp.Simulation.Checks;
using ActOp.Simulation.World;

namespace ActOp.Simulation.Load;

/// <summary>What the callers of a run do, drawn once: how many there are, and how often each kind of call is made.</summary>
internal sealed class Mix
{
    private readonly int[] _weights;
    private readonly int _sum;

    internal Mix(Dice dice)
    {
        Counters = 1 + dice.Below(30);
        CallersPerMachine = 1 + dice.Below(4);
        MeanPause = dice.Pick<long>([5, 30, 100, 500]) * Pump.Millisecond;
        // Each kind but the first is absent from some runs.
        _weights = [.. Enum.GetValues<CallKind>().Select(kind => kind == CallKind.Add ? 50 : dice.Chance(0.4) ? 0 : dice.Below(kind is CallKind.Leave or CallKind.Move ? 15 : 40))];
        _sum = _weights.Sum();
    }

    internal int Counters { get; }

    internal int CallersPerMachine { get; }

    internal long MeanPause { get; }

    internal CallKind Draw(Dice dice)
    {
        var at = dice.Below(_sum);
        var kind = 0;
        while (at >= _weights[kind])
            at -= _weights[kind++];
        return (CallKind)kind;
    }
}

/// <summary>What a caller can do.</summary>
internal enum CallKind
{
    Add,
    AddSlowly,
    Drop,
    Relay,
    Count,
    Leave,
    Move,
    Watch,
    Burst,
}

/// <summary>The application's code outside of grains on every machine: loops that call, pause and call again.</summary>
internal sealed class Callers(World.World world, Ledger ledger, Mix mix) : ICounterWatcher
{
    private readonly Dice _dice = world.Dice.Fork("load");
    private readonly Dictionary<Machine, ICounterWatcher> _watchers = [];
    private bool _isOver;

    /// <summary>Notes of watchers that arrived.</summary>
    internal long Noted { get; private set; }

    internal void End() => _isOver = true;

    /// <summary>Begins the loops of a machine that is up.</summary>
    internal void Begin(Machine machine)
    {
        for (var caller = 0; caller < mix.CallersPerMachine; caller++)
            _ = LoopAsync(machine);
    }

    public Task Applied(long counter, long id)
    {
        Noted++;
        return Task.CompletedTask;
    }

    /// <summary>Calls a counter until it answers; false when it has not by the end of <paramref name="patience"/>.</summary>
    internal async Task<bool> ServesAsync(Machine machine, long counter, TimeSpan patience)
    {
        var until = world.Pump.Now + patience.Ticks;
        while (world.Pump.Now < until && !machine.IsDead)
        {
            if (await CallAsync(machine, CallKind.Add, counter))
                return true;
            await Task.Delay(TimeSpan.FromMilliseconds(500), machine.Clock);
        }

        return machine.IsDead;
    }

    private async Task LoopAsync(Machine machine)
    {
        while (true)
        {
            await Task.Delay(new TimeSpan(1 + _dice.Exponential(mix.MeanPause)), machine.Clock);
            if (_isOver || machine.State != MachineState.Up)
                return;
            await CallAsync(machine, mix.Draw(_dice), 1 + _dice.Below(mix.Counters));
        }
    }

    private async Task<bool> CallAsync(Machine machine, CallKind kind, long counter)
    {
        var ticket = ledger.Open(counter, kind.ToString(), machine);
        Exception? failure = null;
        try
        {
            await Make(machine, kind, machine.Grains.GetGrain<ICounter>(counter), ticket.Id);
        }
        catch (Exception exception)
        {
            failure = exception;
        }

        if (!machine.IsDead && !ticket.HasEnded)
            ledger.Close(ticket, kind is CallKind.Add or CallKind.AddSlowly or CallKind.Relay or CallKind.Burst, failure);
        return failure is null;
    }

    private async Task Make(Machine machine, CallKind kind, ICounter counter, long id)
    {
        switch (kind)
        {
            case CallKind.Add:
                await counter.Add(id);
                break;
            case CallKind.AddSlowly:
                await counter.AddSlowly(id, _dice.Below(200));
                break;
            case CallKind.Drop:
                await counter.Drop(id);
                break;
            case CallKind.Relay:
                long[] way = [.. Enumerable.Range(0, 1 + _dice.Below(4)).Select(_ => 1L + _dice.Below(mix.Counters))];
                await counter.Relay(way, 0, id);
                break;
            case CallKind.Count:
                await counter.Count();
                break;
            case CallKind.Leave:
                await counter.Leave();
                break;
            case CallKind.Move:
                await counter.Move();
                break;
            case CallKind.Watch:
                if (!_watchers.TryGetValue(machine, out var watcher))
                    _watchers.Add(machine, watcher = machine.Grains.CreateObjectReference<ICounterWatcher>(this));
                await counter.Watch(watcher);
                break;
            case CallKind.Burst:
                await BurstAsync(machine, counter, id);
                break;
        }
    }

    /// <summary>Several calls at once, of which only the first counts as the ticket's.</summary>
    private async Task BurstAsync(Machine machine, ICounter counter, long id)
    {
        var first = counter.Add(id);
        var others = new List<Task>();
        for (var more = _dice.Below(20); more > 0; more--)
            others.Add(CallAsync(machine, CallKind.Add, counter.GetPrimaryKeyLong()));
        await first;
        await Task.WhenAll(others);
    }
}
