using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation.Load;

/// <summary>What the callers of a run do, drawn once: how many there are, and how often each kind of call is made.</summary>
internal sealed class Mix
{
    private readonly int[] _weights;
    private readonly int _sum;

    internal Mix(Dice dice, Theme theme)
    {
        Counters = 1 + dice.Below(30);
        Games = 1 + dice.Below(5);
        CallersPerMachine = 1 + dice.Below(4);
        MeanPause = dice.Pick<long>([5, 30, 100, 500]) * Pump.Millisecond;
        // Each kind but the first is absent from some runs.
        _weights = [
            .. Enum.GetValues<CallKind>().Select(kind => kind == CallKind.Add ? 50 : dice.Chance(0.4) ? 0 : dice.Below(MostOf(kind)))];
        if (theme != Theme.Any)
            (MeanPause, CallersPerMachine) = (50 * Pump.Millisecond, 2);
        if (theme == Theme.Moves)
            (_weights[(int)CallKind.Storm], _weights[(int)CallKind.Move]) = (3, 10);
        _sum = _weights.Sum();
    }

    internal int Counters { get; }

    internal int Games { get; }

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

    private static int MostOf(CallKind kind) => kind switch
    {
        CallKind.Leave or CallKind.Move or CallKind.Seat or CallKind.Unwatch => 15,
        CallKind.Storm => 3,
        _ => 40,
    };
}

/// <summary>What a caller can do.</summary>
internal enum CallKind
{
    Add,
    AddSlowly,

    /// <summary>One way.</summary>
    Drop,

    /// <summary>A chain of grains, with cycles.</summary>
    Relay,
    Count,
    Leave,
    Move,

    /// <summary>An observer is told from now on.</summary>
    Watch,

    /// <summary>Many calls at once.</summary>
    Burst,

    /// <summary>The caller does not wait for the answer at all.</summary>
    Abandon,

    /// <summary>The caller waits for the answer for a short time only.</summary>
    GiveUp,

    /// <summary>A game tells its players.</summary>
    Play,

    /// <summary>A player goes into a game.</summary>
    Seat,

    /// <summary>A grain that must not move.</summary>
    Desk,

    /// <summary>A stateless worker.</summary>
    Echo,

    /// <summary>Half of the counters move at once.</summary>
    Storm,

    /// <summary>The observer is deleted; the next watch makes another.</summary>
    Unwatch,

    /// <summary>A large argument, and a large result.</summary>
    Parcel,
}

/// <summary>The application's code outside of grains on every machine: loops that call, pause and call again.</summary>
internal sealed class Callers(World.World world, Ledger ledger, Mix mix)
{
    private readonly Dice _dice = world.Dice.Fork("load");
    private readonly Parcels _parcels = new(world, ledger);
    private readonly Dictionary<Machine, (Watcher Object, ICounterWatcher Reference)> _watchers = [];
    private bool _isOver;

    /// <summary>An observer was deleted: notes may have been on their way to it.</summary>
    internal bool HasUnwatched { get; private set; }

    internal void End() => _isOver = true;

    /// <summary>Whether the machine has an observer at the moment.</summary>
    internal bool HasWatcher(Machine machine) => _watchers.ContainsKey(machine);

    /// <summary>Begins the loops of a machine that is up.</summary>
    internal void Begin(Machine machine)
    {
        for (var caller = 0; caller < mix.CallersPerMachine; caller++)
            _ = LoopAsync(machine);
    }

    /// <summary>Calls although the node of the machine has stopped.</summary>
    internal void CallLate(Machine machine)
    {
        for (var call = 0; call < 3; call++)
            _ = CallAsync(machine, CallKind.Add, 1 + _dice.Below(mix.Counters));
    }

    /// <summary>Calls a grain until it answers; false when it has not by the end of <paramref name="patience"/>.</summary>
    internal async Task<bool> ServesAsync(Machine machine, long number, TimeSpan patience)
    {
        var until = world.Pump.Now + patience.Ticks;
        while (world.Pump.Now < until && !machine.IsDead)
        {
            if (await CallAsync(machine, CallKind.Add, number))
                return true;
            await Task.Delay(TimeSpan.FromMilliseconds(500), machine.AppClock);
        }

        return machine.IsDead;
    }

    private async Task LoopAsync(Machine machine)
    {
        while (true)
        {
            await Task.Delay(new TimeSpan(1 + _dice.Exponential(mix.MeanPause)), machine.AppClock);
            if (_isOver || machine.IsDead)
                return;
            await CallAsync(machine, mix.Draw(_dice), 1 + _dice.Below(mix.Counters));
        }
    }

    /// <summary>One call; false when it has failed.</summary>
    internal async Task<bool> CallAsync(Machine machine, CallKind kind, long counter, Order.Burst? burst = null)
    {
        var number = kind switch
        {
            CallKind.Play or CallKind.Seat => Numbers.FirstGame + (counter % mix.Games),
            CallKind.Desk => Numbers.FirstDesk + (counter % mix.Games),
            _ => counter,
        };
        var ticket = ledger.Open(number, kind.ToString(), machine);
        ledger.Order.Sent(burst, ticket.Id);
        List<long> bag = [ticket.Id];
        RequestContext.Set(Numbers.Ticket, ticket.Id);
        RequestContext.Set(Numbers.Bag, bag);
        Exception? failure = null;
        long? answer = null;
        try
        {
            answer = await Make(machine, kind, number, ticket.Id);
        }
        catch (Exception exception)
        {
            failure = exception;
        }

        if (bag.Count != 1)
            ledger.Accuse("context", "The callee of " + ticket.Id + " has changed an object in the caller's request context.");
        if (!machine.IsDead && !ticket.HasEnded)
            ledger.Close(ticket, answer, failure);
        return failure is null;
    }

    /// <summary>Null when the answer says nothing of the id.</summary>
    private async Task<long?> Make(Machine machine, CallKind kind, long number, long id)
    {
        var grains = machine.Grains;
        var counter = number < Numbers.FirstDesk ? grains.GetGrain<ICounter>(number) : null!;
        switch (kind)
        {
            case CallKind.Add or CallKind.Desk:
                return await Numbers.Tally(grains, number).Add(id);
            case CallKind.AddSlowly:
                return await counter.AddSlowly(id, Pause());
            case CallKind.Drop:
                ledger.Drops(id);
                await counter.Drop(id);
                return null;
            case CallKind.Relay:
                return await counter.Relay(Way(number), 0, id);
            case CallKind.Count:
                return await counter.Count(id);
            case CallKind.Leave:
                await counter.Leave();
                return null;
            case CallKind.Move:
                await counter.Move();
                return null;
            case CallKind.Watch:
                if (!_watchers.TryGetValue(machine, out var watcher))
                    _watchers.Add(machine, watcher = NewWatcher(machine));
                await counter.Watch(watcher.Reference);
                return null;
            case CallKind.Unwatch:
                if (_watchers.Remove(machine, out var old))
                {
                    HasUnwatched = true;
                    grains.DeleteObjectReference<ICounterWatcher>(old.Reference);
                }

                return null;
            case CallKind.Burst:
                return await BurstAsync(machine, counter, id);
            case CallKind.Abandon:
                _ = counter.Add(id);
                return null;
            case CallKind.GiveUp:
                return await GiveUpAsync(machine, counter, id);
            case CallKind.Play:
                return await grains.GetGrain<IGame>(number - Numbers.FirstGame).Play(id);
            case CallKind.Seat:
                await grains.GetGrain<IGame>(number - Numbers.FirstGame).Seat(1 + _dice.Below(mix.Counters));
                return null;
            case CallKind.Echo:
                var said = await grains.GetGrain<IEcho>(number % 3).Say(id);
                if (said != id)
                    ledger.Accuse("linear", "The call " + id + " to a worker was answered with " + said + ".");
                return null;
            case CallKind.Parcel:
                await _parcels.SendAsync(machine, number, id);
                return null;
            case CallKind.Storm:
                for (var other = 1L; other <= mix.Counters; other++)
                {
                    if (_dice.Chance(0.5))
                        await grains.GetGrain<ICounter>(other).Move();
                }

                return null;
            default:
                throw new InvalidOperationException(kind + " is no kind of call.");
        }
    }

    /// <summary>Long ones make queues in which calls wait for longer than their callers.</summary>
    private int Pause() => _dice.Below(world.IsCalm ? 4 : 200);

    /// <summary>In a calm run the chains cannot wait for each other in a circle.</summary>
    private long[] Way(long first)
    {
        var way = Enumerable.Range(0, 1 + _dice.Below(4)).Select(_ => 1L + _dice.Below(mix.Counters));
        return world.IsCalm ? [.. way.Where(next => next >= first).Order(), first] : [.. way];
    }

    /// <summary>Several calls at once, of which only the first counts as the ticket's.</summary>
    private async Task<long?> BurstAsync(Machine machine, ICounter counter, long id)
    {
        var burst = ledger.Order.Begin(machine, counter.GetPrimaryKeyLong());
        ledger.Order.Sent(burst, id);
        var first = counter.Add(id);
        var others = new List<Task>();
        for (var more = _dice.Below(20); more > 0; more--)
            others.Add(CallAsync(machine, CallKind.Add, counter.GetPrimaryKeyLong(), burst));
        var count = await first;
        await Task.WhenAll(others);
        return count;
    }

    private async Task<long?> GiveUpAsync(Machine machine, ICounter counter, long id)
    {
        try
        {
            return await counter.AddSlowly(id, Pause()).WaitAsync(TimeSpan.FromMilliseconds(_dice.Below(100)), machine.AppClock);
        }
        catch (TimeoutException)
        {
            return null;
        }
    }

    private (Watcher Object, ICounterWatcher Reference) NewWatcher(Machine machine)
    {
        var watcher = new Watcher(ledger);
        return (watcher, machine.Grains.CreateObjectReference<ICounterWatcher>(watcher));
    }

    private sealed class Watcher(Ledger ledger) : ICounterWatcher
    {
        private readonly HashSet<long> _heard = [];

        public Task Applied(long counter, long id)
        {
            ledger.Heard++;
            if (!_heard.Add(id))
                ledger.Accuse("twice", "A watcher was told twice of the id " + id + " of counter " + counter + ".");
            return Task.CompletedTask;
        }
    }
}
