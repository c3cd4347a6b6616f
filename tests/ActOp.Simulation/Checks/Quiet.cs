using ActOp.Runtime.Activations;
using ActOp.Runtime.Directory;
using ActOp.Simulation.Load;
using ActOp.Simulation.World;

namespace ActOp.Simulation.Checks;

/// <summary>What must hold when nothing goes wrong any more and nobody calls: the parts of the nodes agree, and nothing is kept for anybody.</summary>
/// <remarks>The one place that looks into the nodes.</remarks>
internal static class Quiet
{
    /// <summary>Whether all silos that run have one view, of all of them and nobody else.</summary>
    internal static bool HasSettled(World.World world)
    {
        var silos = world.Silos.ToArray();
        if (!silos.All(static silo => silo.IsRunning && silo.State == MachineState.Up))
            return false;
        var expected = silos.Select(static silo => silo.Node.Address).ToHashSet();
        foreach (var silo in silos)
        {
            if (!expected.SetEquals(silo.Node.Silos.Active) || silo.Node.Lease.IsClosed)
                return false;
        }

        foreach (var client in world.Machines.Where(static machine => !machine.IsSilo))
        {
            if (client.State != MachineState.Up || !expected.SetEquals(client.Node.Silos.Active))
                return false;
        }

        return true;
    }

    /// <summary>Activations of grains that have or run something at the moment.</summary>
    internal static HashSet<Activation> Busy(World.World world) =>
        [.. world.Silos.SelectMany(static silo => silo.Node.Activations).Where(static activation => activation.Class.IsOrdinary && !activation.IsIdle)];

    /// <summary>Says what is not as it must be.</summary>
    /// <param name="world">At rest.</param>
    /// <param name="ledger">Takes what is said.</param>
    /// <param name="busy">Activations that were not idle at any earlier look: those of the others may just have a tick.</param>
    internal static void Check(World.World world, Ledger ledger, HashSet<Activation> busy)
    {
        var silos = world.Silos.ToArray();
        foreach (var counter in ledger.Counters)
            CheckCounter(silos, ledger, counter);
        foreach (var machine in world.Machines)
            CheckMachine(world, machine, ledger, busy);
    }

    private static void CheckCounter(Machine[] silos, Ledger ledger, long counter)
    {
        var id = silos[0].Grains.GetGrain<ICounter>(counter).GetGrainId();
        var homes = new List<Activation>();
        foreach (var silo in silos)
        {
            if (silo.Node.Activations.TryGet(id, out var activation))
                homes.Add(activation);
        }

        if (homes.Count > 1)
            ledger.Accuse("directory", "Counter " + counter + " has activations on " + string.Join(", ", homes.Select(static home => home.ToString())) + ".");
        var owner = silos.FirstOrDefault(silo => silo.Node.Address.Equals(silos[0].Node.DirectoryService.Map.OwnerOf(id)));
        if (owner is null)
        {
            ledger.Accuse("directory", "The slot of counter " + counter + " belongs to " + silos[0].Node.DirectoryService.Map.OwnerOf(id) + ", which is none of the silos.");
            return;
        }

        var answer = owner.Node.DirectoryService.Lookup(id);
        if (!answer.IsCompletedSuccessfully || answer.Result.Status is not (DirectoryStatus.Ok or DirectoryStatus.NotFound))
            ledger.Accuse("directory", "The directory does not answer for counter " + counter + ": " + (answer.IsCompletedSuccessfully ? answer.Result.Status : "waits") + ".");
        else if (answer.Result.Status == DirectoryStatus.NotFound && homes.Count > 0)
            ledger.Accuse("directory", "Counter " + counter + " is active (" + homes[0] + ") but not in the directory.");
        else if (answer.Result.Status == DirectoryStatus.Ok && (homes.Count == 0 || !homes.Any(home => home.ActivationId.Equals(answer.Result.Location.Activation))))
            ledger.Accuse("directory", "The directory lists counter " + counter + " at " + answer.Result.Location.Silo + ", where it is not.");
    }

    private static void CheckMachine(World.World world, Machine machine, Ledger ledger, HashSet<Activation> busy)
    {
        var node = machine.Node;
        foreach (var activation in node.Activations)
        {
            // The system targets have timers of their own and are never quiet.
            if (!activation.Class.IsOrdinary)
                continue;
            if (busy.Contains(activation) && !activation.IsIdle)
                ledger.Accuse("mailbox", "The mailbox of " + activation + " is not empty: " + activation.QueueLength + " wait.");
            if (activation.State != ActivationState.Active)
                ledger.Accuse("mailbox", activation + " is neither active nor gone.");
        }

        // Probes and directory ticks may be on their way at any moment; they are calls without a grain behind them.
        foreach (var (call, _) in node.Calls.Registry.Read())
        {
            if (!ActOp.Runtime.Routing.WellKnown.IsWellKnown(call.TargetId))
                ledger.Accuse("slots", "A call of " + machine.Name + " to " + call.TargetId + " (" + call.Method.ActivityName + ") still waits.");
        }

        var peers = machine.IsSilo ? world.Machines.Count() - 1 : world.Silos.Count();
        var perPeer = world.Settings.LinksPerPeer + 1;
        if (node.Peers.Mesh.LinkCount > peers * perPeer)
            ledger.Accuse("links", machine.Name + " has " + node.Peers.Mesh.LinkCount + " links to " + peers + " peers of " + perPeer + " each.");
        var open = world.Network.Connections.Count(one => (one.Near.Machine == machine && !one.Near.IsClosed) || (one.Far?.Machine == machine && !one.Far.IsClosed));
        if (open > node.Peers.Mesh.LinkCount)
            ledger.Accuse("links", machine.Name + " has " + open + " connections open but " + node.Peers.Mesh.LinkCount + " links.");
    }
}
