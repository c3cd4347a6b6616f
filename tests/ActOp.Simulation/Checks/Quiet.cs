using ActOp.Locality;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Directory;
using ActOp.Simulation.Load;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation.Checks;

/// <summary>
/// What must hold when nothing goes wrong any more and nobody calls: the parts of the nodes agree, and nothing is kept for anybody.
/// </summary>
/// <remarks>The one place that looks into the nodes.</remarks>
internal static class Quiet
{
    /// <summary>Requests of one activation that run at once, continuations, and what the runtime itself puts into a mailbox.</summary>
    private const int MostBeside = 20;

    /// <summary>Kinds of system targets.</summary>
    private const int SystemTargetsPerSilo = 6;

    /// <summary>The shortest time that nobody has called when all is looked at.</summary>
    private static readonly TimeSpan LongestRest = TimeSpan.FromSeconds(15);

    /// <summary>Whether all silos that run have one view, of all of them and nobody else.</summary>
    internal static bool HasSettled(World.World world)
    {
        var silos = world.Silos.ToArray();
        if (!silos.All(static silo => silo.IsRunning && silo.State == MachineState.Up))
            return false;
        var expected = silos.Select(static silo => silo.Node.Address).ToHashSet();
        foreach (var silo in silos)
        {
            if (!expected.SetEquals(silo.Node.ClusterView.Active) || silo.Node.Lease.IsClosed)
                return false;
        }

        foreach (var client in world.Machines.Where(static machine => !machine.IsSilo))
        {
            if (client.State != MachineState.Up || !expected.SetEquals(client.Node.ClusterView.Active))
                return false;
        }

        return true;
    }

    /// <summary>Activations of grains that have or run something at the moment.</summary>
    internal static HashSet<Activation> Busy(World.World world) =>
        [.. world.Silos.SelectMany(static silo => silo.Node.Activations).Where(static activation => IsOfApplication(activation)
            && !activation.IsIdle)];

    /// <summary>The grains of the runtime, such as queues of streams, are never quiet.</summary>
    private static bool IsOfApplication(Activation activation) =>
        activation.Class.IsOrdinary && !activation.Class.IsOfRuntime;

    /// <summary>Says what is not as it must be.</summary>
    /// <param name="world">At rest.</param>
    /// <param name="ledger">Takes what is said.</param>
    /// <param name="callers">Have the observers.</param>
    /// <param name="busy">Activations that were not idle at any earlier look: those of the others may just have a tick.</param>
    /// <param name="own">The load of the theme.</param>
    internal static void Check(World.World world, Ledger ledger, Callers callers, HashSet<Activation> busy, IThemeLoad? own)
    {
        var silos = world.Silos.ToArray();
        var lives = new Dictionary<GrainId, Life>();
        foreach (var number in ledger.Counters)
        {
            CheckGrain(world, silos, ledger, number);
            lives.Add(Numbers.IdOf(silos[0].Grains, number), ledger.NewestOf(number)!);
        }

        foreach (var machine in world.Machines)
        {
            CheckActivations(world, machine, ledger, lives, busy, own);
            CheckCalls(machine, ledger);
            CheckLinks(world, machine, ledger);
            CheckTables(silos, machine, ledger, callers, own);
        }
    }

    /// <summary>A mailbox is not longer than it may be; at any time.</summary>
    internal static void CheckLimit(World.World world, Activation activation, Ledger ledger)
    {
        // As many may not have been looked at yet as may wait.
        if (activation.QueueLength > (2 * (long)world.Settings.MailboxLimit) + MostBeside)
        {
            ledger.Accuse(
                "limit", "The mailbox of " + activation + " has " + activation.QueueLength + " items; its limit is " +
                    world.Settings.MailboxLimit + ".");
        }
    }

    private static void CheckGrain(World.World world, Machine[] silos, Ledger ledger, long number)
    {
        var id = Numbers.IdOf(silos[0].Grains, number);
        var homes = new List<Activation>();
        foreach (var silo in silos)
        {
            if (silo.Node.Activations.TryGet(id, out var activation))
                homes.Add(activation);
        }

        if (homes.Count > 1)
        {
            ledger.Accuse(
                "directory", "Grain " + number + " has activations on " + string.Join(", ", homes.Select(static home => home.ToString())) +
                    ".");
        }

        if (homes.Count > 0 && Numbers.HasTimer(number) && world.Pump.Now - ledger.NewestOf(number)!.TickedAt > 2 * Pump.Second)
        {
            ledger.Accuse(
                "ticks", "The timer of " + homes[0] + " has not ticked since " + new TimeSpan(ledger.NewestOf(number)!.TickedAt) + ".");
        }

        var owner = silos.FirstOrDefault(silo => silo.Node.Address.Equals(silos[0].Node.DirectoryService.Map.OwnerOf(id)));
        if (owner is null)
        {
            ledger.Accuse(
                "directory", "The slot of grain " + number + " belongs to " + silos[0].Node.DirectoryService.Map.OwnerOf(id) +
                    ", which is none of the silos.");
            return;
        }

        var answer = owner.Node.DirectoryService.Lookup(id);
        if (!answer.IsCompletedSuccessfully || answer.Result.Status is not (DirectoryStatus.Ok or DirectoryStatus.NotFound))
        {
            ledger.Accuse(
                "directory", "The directory does not answer for grain " + number + ": " +
                    (answer.IsCompletedSuccessfully ? answer.Result.Status : "waits") + ".");
        }
        else if (answer.Result.Status == DirectoryStatus.NotFound && homes.Count > 0)
        {
            ledger.Accuse("directory", "Grain " + number + " is active (" + homes[0] + ") but not in the directory.");
        }
        else if (
            answer.Result.Status == DirectoryStatus.Ok
                && (homes.Count == 0 || !homes.Any(home => home.ActivationId.Equals(answer.Result.Location.Activation))))
        {
            ledger.Accuse("directory", "The directory lists grain " + number + " at " + answer.Result.Location.Silo + ", where it is not.");
        }
    }

    private static void CheckActivations(
        World.World world, Machine machine, Ledger ledger, Dictionary<GrainId, Life> lives, HashSet<Activation> busy,
        IThemeLoad? own)
    {
        foreach (var activation in machine.Node.Activations)
        {
            // The system targets have timers of their own and are never quiet.
            if (!activation.Class.IsOrdinary)
                continue;
            if (busy.Contains(activation) && !activation.IsIdle)
                ledger.Accuse("mailbox", "The mailbox of " + activation + " is not empty: " + activation.QueueLength + " wait.");
            if (activation.State != ActivationState.Active)
                ledger.Accuse("mailbox", activation + " is neither active nor gone.");
            else if (activation.Life.IsEndDecided)
                ledger.Accuse("life", activation + " has decided to end and does not end.");
            // A grain that moved while nobody called is as old as its new activation: nobody carries its age along. And a one-way call, or
            // one that its caller has given up, may come late.
            var age = lives.TryGetValue(activation.GrainId, out var life) ? world.Pump.Now - life.UsedAt
                : TimeSpan.FromMilliseconds(machine.Node.Local.Clock.Now - activation.LastUsed).Ticks;
            // A slow link may have delivered a call of a waiter long after it was made.
            if (world.Settings.CollectionAge < LongestRest && age > LongestRest.Ticks && activation.Class.Type != typeof(Waiter)
                && own?.MayStay(activation) != true)
            {
                ledger.Accuse(
                    "collected", activation + " is still there though nobody has called it for longer than " +
                        world.Settings.CollectionAge + ".");
            }
        }
    }

    private static void CheckCalls(Machine machine, Ledger ledger)
    {
        // Probes and directory ticks may be on their way at any moment; they are calls without a grain behind them.
        var registry = machine.Node.Calls.Registry;
        var waiting = registry.Read();
        foreach (var (call, _) in waiting)
        {
            if (!ActOp.Foundation.SystemGrainIds.IsSystemGrain(call.TargetId) && !call.Method.IsOfRuntime)
            {
                ledger.Accuse(
                    "slots", "A call of " + machine.Name + " to " + call.TargetId + " (" + call.Method.ActivityName + ") still waits.");
            }
        }

        var cancellables = machine.Node.Calls.Cancellables;
        if (cancellables.Count + cancellables.Notes > 0)
        {
            ledger.Accuse("tokens", machine.Name + " keeps " + cancellables.Count + " requests that may be cancelled and "
                + cancellables.Notes + " notes about others.");
        }

        if (registry.Free + waiting.Count != registry.Capacity)
        {
            ledger.Accuse(
                "slots", machine.Name + " has lost " + (registry.Capacity - registry.Free - waiting.Count) + " of " + registry.Capacity +
                    " slots of calls.");
        }
    }

    private static void CheckLinks(World.World world, Machine machine, Ledger ledger)
    {
        var node = machine.Node;
        var peers = machine.IsSilo ? world.Machines.Count() - 1 : world.Silos.Count();
        var perPeer = world.Settings.LinksPerPeer + 1;
        if (node.Peers.Mesh.LinkCount > peers * perPeer)
        {
            ledger.Accuse(
                "links", machine.Name + " has " + node.Peers.Mesh.LinkCount + " links to " + peers + " peers of " + perPeer + " each.");
        }

        var open = world.Network.OpenOf(machine);
        if (open > node.Peers.Mesh.LinkCount)
            ledger.Accuse("links", machine.Name + " has " + open + " connections open but " + node.Peers.Mesh.LinkCount + " links.");
    }

    /// <summary>The agents that read streams are observers.</summary>
    private static bool IsAgent(Activation activation) => activation.PublishedExtras?.WeakInstance is { } weak
        && weak.TryGetTarget(out var observer) && observer is ActOp.Streams.IStreamAgent;

    /// <summary>What a node keeps of others it keeps only of those that are there.</summary>
    private static void CheckTables(Machine[] silos, Machine machine, Ledger ledger, Callers callers, IThemeLoad? own)
    {
        var node = machine.Node;
        var observers = node.Activations.Count(
            activation => activation.Class.Type == typeof(IGrainObserver) && !IsAgent(activation));
        if (observers > (callers.HasWatcher(machine) ? 1 : 0) + (own?.ObserversOf(machine) ?? 0))
            ledger.Accuse("observers", machine.Name + " has " + observers + " observers that were deleted.");
        if (node.Factory.SystemTargets > silos.Length * (SystemTargetsPerSilo + (own is ReminderLoad ? 2 : 0)))
        {
            ledger.Accuse(
                "tables", machine.Name + " keeps " + node.Factory.SystemTargets + " references to system targets of " + silos.Length +
                    " silos.");
        }

        if (machine.IsSilo && node.Locality is LocalityService { NumberedSilos: var numbered } && numbered > silos.Length)
            ledger.Accuse("tables", machine.Name + " keeps numbers of " + numbered + " silos; there are " + silos.Length + ".");
    }
}
