using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Configuration;

namespace ActOp.Simulation.Load;

/// <summary>A grain whose calls run until they are cancelled.</summary>
public interface IWaiter : IGrainWithIntegerKey
{
    /// <summary>Runs until it is cancelled, or so many milliseconds if that is not negative.</summary>
    Task Wait(long id, int milliseconds, CancellationToken cancellationToken);

    /// <summary>Lets another grain wait, with the same token.</summary>
    Task PassOn(long id, long other, CancellationToken cancellationToken);

    /// <summary>Ends the activation.</summary>
    [AlwaysInterleave]
    Task Leave();

    /// <summary>Moves the activation to another silo.</summary>
    [AlwaysInterleave]
    Task Move();
}

/// <inheritdoc cref="IWaiter"/>
internal sealed class Waiter(WaiterLoad load, Machine machine) : Grain, IWaiter
{
    public async Task Wait(long id, int milliseconds, CancellationToken cancellationToken)
    {
        load.Began(id, machine, "wait");
        using var told = cancellationToken.Register(() => load.Heard(id));
        var isEndless = milliseconds < 0 && !load.IsOver;
        await Task.Delay(isEndless
            ? load.Longest : TimeSpan.FromMilliseconds(Math.Max(milliseconds, 0)), machine.AppClock, cancellationToken);
        if (isEndless)
            load.Outlived(id, GrainContext);
    }

    public Task PassOn(long id, long other, CancellationToken cancellationToken)
    {
        load.Began(id, machine, "pass on");
        return GrainFactory.GetGrain<IWaiter>(other).Wait(id, -1, cancellationToken);
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
/// Calls that are cancelled at random moments, while their grains start, move and end. A caller gets an answer in any case. While no link
/// is lost, the token of a callee is cancelled soon after that of its caller, and nothing is cancelled that nobody has cancelled. At rest
/// no node has a record of a request (<see cref="Quiet"/>).
/// </summary>
internal sealed class WaiterLoad(World.World world, Ledger ledger, Faults faults)
{
    private const int CallersPerMachine = 3;

    /// <summary>What a link may be silent after, without an end.</summary>
    private static readonly FaultKind[] Silencing =
    [
        FaultKind.HalfOpen, FaultKind.BlackHole, FaultKind.Partition, FaultKind.OneWayPartition, FaultKind.Isolation, FaultKind.LongPause,
    ];

    private readonly Dice _dice = world.Dice.Fork("waiters");
    private readonly Dictionary<long, Stay> _stays = [];
    private long _linkLost = long.MinValue;

    /// <summary>A call without an end ends by itself after this: later than its caller has given up.</summary>
    internal TimeSpan Longest { get; } = world.Settings.ResponseTimeout + TimeSpan.FromSeconds(5);

    /// <summary>From the cancellation by the caller to that at the callee: queues, slow machines, and the start of a grain.</summary>
    private static long LongestWay => 3 * Pump.Second;

    /// <summary>Nobody calls any more.</summary>
    internal bool IsOver { get; private set; }

    private bool Acknowledges { get; } = world.Dice.Fork("acknowledged").Chance(0.3);

    internal void Configure(IServiceCollection services)
    {
        services.AddSingleton(this);
        services.Configure<SiloMessagingOptions>(options => options.WaitForCancellationAcknowledgement = Acknowledges);
        services.Configure<ClientMessagingOptions>(options => options.WaitForCancellationAcknowledgement = Acknowledges);
    }

    internal void Begin(Machine machine)
    {
        // A machine that has just come may have a share in what was sent before.
        _linkLost = world.Pump.Now;
        machine.Node.Peers.LinkLost += (_, _) => _linkLost = world.Pump.Now;
        if (machine.Node.Cluster is { } cluster)
        {
            cluster.ViewChanged += (_, _, change) =>
            {
                if (change.Died.Any())
                    _linkLost = world.Pump.Now;
            };
        }

        for (var caller = 0; caller < CallersPerMachine; caller++)
            _ = LoopAsync(machine);
    }

    internal void End() => IsOver = true;

    /// <summary>A method has begun.</summary>
    internal void Began(long id, Machine machine, string method)
    {
        ledger.Count("waiter began");
        _stays[id].BeganAt ??= world.Pump.Now;
        world.Pump.Note(machine, EventKind.Check, method + " " + id);
    }

    /// <summary>The token of a callee was cancelled.</summary>
    internal void Heard(long id)
    {
        ledger.Count("waiter heard");
        if (_stays[id] is { CancelledAt: null } stay && HasHeld(stay))
            ledger.Accuse("cancelled", "The call " + id + " was cancelled by nobody.");
    }

    /// <summary>A call has run to its end, and nobody has cancelled it.</summary>
    internal void Outlived(long id, IGrainContext grain)
    {
        ledger.Count("waiter deaf");
        if (_stays[id] is { CancelledAt: { } at } stay && world.Pump.Now - at > LongestWay && HasHeld(stay))
            ledger.Accuse("deaf", grain.GrainId + " was not told of the cancellation of the call " + id + " at " + new TimeSpan(at) + ".");
    }

    /// <summary>
    /// No link was lost or silent and no silo declared dead since the call began, and the request was not on its way for longer than its
    /// caller waits: nobody keeps its cancellation for so long.
    /// </summary>
    private bool HasHeld(Stay stay) => _linkLost < stay.Since && !stay.Caller.IsDead && !faults.Any(stay.Since, Silencing)
        && stay.BeganAt - stay.Since < world.Settings.ResponseTimeout.Ticks;

    private async Task LoopAsync(Machine machine)
    {
        while (!IsOver && machine is { State: MachineState.Up, IsDead: false })
        {
            await Task.Delay(TimeSpan.FromTicks(Math.Max(1, _dice.Exponential(50 * Pump.Millisecond))), machine.AppClock);
            if (IsOver || machine is not { State: MachineState.Up, IsDead: false })
                return;
            await CallAsync(machine);
        }
    }

    private async Task CallAsync(Machine machine)
    {
        // Few grains have queues, and many grains are new.
        var number = _dice.Chance(0.5) ? _dice.Below(5) : _dice.Below(1_000);
        var ticket = ledger.Open(number, "Wait", machine);
        using var source = new CancellationTokenSource();
        var stay = _stays[ticket.Id] = new Stay(machine, world.Pump.Now);
        Exception? failure = null;
        try
        {
            var grain = machine.Grains.GetGrain<IWaiter>(number);
            if (_dice.Chance(0.1))
            {
                await (_dice.Chance(0.5) ? grain.Leave() : grain.Move());
            }
            else
            {
                var call = Make(grain, ticket.Id, source.Token);
                if (_dice.Chance(0.9))
                    await CancelLater(machine, stay, source);
                await call;
            }
        }
        catch (Exception exception)
        {
            failure = exception;
        }

        // Grains wait for each other, at times for longer than their callers.
        var isExpected = failure is TimeoutException || (failure is OperationCanceledException && stay.CancelledAt is not null);
        ledger.Count("waiter " + (failure?.GetType().Name ?? "ok"));
        if (!machine.IsDead && !ticket.HasEnded)
            ledger.Close(ticket, null, isExpected ? null : failure);
    }

    private Task Make(IWaiter grain, long id, CancellationToken token) => _dice.Below(4) switch
    {
        0 => grain.PassOn(id, 1_000 + _dice.Below(5), token),
        1 => grain.Wait(id, _dice.Below(20), token),
        _ => grain.Wait(id, -1, token),
    };

    private async Task CancelLater(Machine machine, Stay stay, CancellationTokenSource source)
    {
        // Some at once, most within the time that a request takes to its grain, and some long after.
        var pause = _dice.Below(4) switch
        {
            0 => 0,
            1 => _dice.Exponential(200 * Pump.Millisecond),
            _ => _dice.Exponential(2 * Pump.Millisecond),
        };
        if (pause > 0)
            await Task.Delay(TimeSpan.FromTicks(pause), machine.AppClock);
        stay.CancelledAt = world.Pump.Now;
        source.Cancel();
    }

    /// <summary>A call that may be cancelled.</summary>
    private sealed class Stay(Machine caller, long since)
    {
        internal Machine Caller => caller;

        internal long Since => since;

        /// <summary>When the first method ran.</summary>
        internal long? BeganAt { get; set; }

        internal long? CancelledAt { get; set; }
    }
}
