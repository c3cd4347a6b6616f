using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Streams;
using ActOp.Testing.Simulated;
using Orleans.Providers.Streams.Common;

namespace ActOp.Simulation.Load;

/// <summary>
/// Shows after the faults that streams work: new items arrive, all that was owed has come in order, subscriptions end, nothing comes to
/// those that have ended, and at rest nothing is held.
/// </summary>
internal sealed class StreamProof(World.World world, Ledger ledger, StreamChecks checks, StreamSetup setup, StreamLoad load)
{
    private Phase _phase;
    private long _since;
    private int _open;

    private enum Phase
    {
        Load,

        /// <summary>Each machine sends an item to each stream.</summary>
        Sending,

        /// <summary>Everything that is owed arrives.</summary>
        Arriving,

        /// <summary>All explicit subscriptions are being ended.</summary>
        Ending,

        /// <summary>Each stream gets one more item.</summary>
        SendingAgain,

        /// <summary>It arrives at the implicit subscriptions, and nowhere else.</summary>
        ArrivingAgain,

        /// <summary>Agents and queues give back what they hold.</summary>
        Emptying,

        /// <summary>The agents stop.</summary>
        Stopping,
        Done,
    }

    internal bool IsDone => _phase == Phase.Done;

    /// <summary>
    /// An item waits behind one that could not be delivered for as long as that is repeated, and the last pause; a call that hangs has to
    /// time out before.
    /// </summary>
    private long LongestArrival =>
        setup.LongestDelivery.Ticks + (2 * world.Settings.ResponseTimeout.Ticks) + (30 * Pump.Second);

    internal void Begin()
    {
        Enter(Phase.Sending);
        foreach (var machine in world.Machines)
        {
            foreach (var stream in setup.Streams)
                Start(machine, () => SendAsync(machine, stream, -machine.Number));
        }
    }

    /// <summary>Once a second.</summary>
    internal void Watch()
    {
        var time = world.Pump.Now - _since;
        switch (_phase)
        {
            case Phase.Sending or Phase.SendingAgain or Phase.Ending or Phase.Stopping when _open > 0:
                if (time > LongestArrival)
                    ledger.Accuse("stuck stream", _phase + " has not ended: " + _open + " are open.");
                break;
            case Phase.Sending:
                Enter(Phase.Arriving);
                break;
            case Phase.Arriving:
                if (HasArrived(time))
                    EndAll();
                break;
            case Phase.Ending:
                Enter(Phase.SendingAgain);
                foreach (var stream in setup.Streams)
                    Start(world.Silos.First(), () => SendAsync(world.Silos.First(), stream, 0));
                break;
            case Phase.SendingAgain:
                Enter(Phase.ArrivingAgain);
                break;
            case Phase.ArrivingAgain when time > world.Settings.ResponseTimeout.Ticks + (5 * Pump.Second):
                if (HasArrived(time))
                    Enter(Phase.Emptying);
                break;
            case Phase.Emptying:
                CheckHeld(time);
                break;
            case Phase.Stopping:
                Enter(Phase.Done);
                break;
        }
    }

    private void Enter(Phase phase) => (_phase, _since) = (phase, world.Pump.Now);

    private bool HasArrived(long time)
    {
        var missing = checks.Missing();
        if (missing.Count == 0)
        {
            checks.CheckOrder();
            return true;
        }

        if (time > LongestArrival)
            ledger.Accuse("lost item", missing.Count + " items are missing: " + string.Join("; ", missing.Take(3)));
        return false;
    }

    private async Task SendAsync(Machine machine, StreamName stream, long producer)
    {
        while (!await load.SendAsync(machine, stream, producer, 1))
            await Task.Delay(TimeSpan.FromMilliseconds(500), machine.AppClock);
    }

    private void EndAll()
    {
        Enter(Phase.Ending);
        var silo = world.Silos.First();
        foreach (var key in setup.Listeners)
        {
            Start(silo, () => UntilAsync(silo, "unsubscribe", async () =>
                await setup.Listener(silo.Grains, key).UnsubscribeAll() == 0));
        }

        foreach (var client in load.Clients.Where(static one => !one.Machine.IsDead))
        {
            Start(client.Machine, () => UntilAsync(client.Machine, "unsubscribe", async () =>
            {
                while (client.Count > 0)
                    await client.UnsubscribeAsync();
                return true;
            }));
        }
    }

    private void CheckHeld(long time)
    {
        var held = new List<string>();
        foreach (var silo in world.Silos)
        {
            foreach (var agent in setup.ProvidersOf(silo).SelectMany(static provider => provider.Agents))
            {
                if (agent.Held > 0 || agent.Cache.GetMaxAddCount() < setup.CacheSize)
                    held.Add("an agent of " + silo.Name);
            }

            foreach (var activation in silo.Node.Activations)
            {
                if (activation.GrainInstance is MemoryQueueGrain { Held: > 0 and var count })
                    held.Add(count + " messages of " + activation.GrainId);
            }
        }

        if (setup.Queued > 0)
            held.Add(setup.Queued + " messages outside of the silos");
        if (held.Count > 0)
        {
            if (time > LongestArrival)
                ledger.Accuse("held", "At rest something is held: " + string.Join(", ", held));
            return;
        }

        Enter(Phase.Stopping);
        foreach (var silo in world.Silos)
        {
            foreach (var provider in setup.ProvidersOf(silo))
            {
                Start(silo, () => UntilAsync(silo, "stop agents", async () =>
                {
                    await provider.ExecuteCommand((int)PersistentStreamProviderCommand.StopAgents, null);
                    return true;
                }));
            }
        }
    }

    /// <summary>Repeats a step until it is done.</summary>
    private async Task UntilAsync(Machine machine, string what, Func<Task<bool>> step)
    {
        while (true)
        {
            try
            {
                if (await step())
                    return;
            }
            catch (Exception exception)
            {
                load.Failed(what, exception);
            }

            await Task.Delay(TimeSpan.FromMilliseconds(500), machine.AppClock);
        }
    }

    private void Start(Machine machine, Func<Task> work)
    {
        _open++;
        world.Pump.After(0, machine, EventKind.Load, "prove", () => _ = CountAsync(work()));
    }

    private async Task CountAsync(Task work)
    {
        await work;
        _open--;
    }
}
