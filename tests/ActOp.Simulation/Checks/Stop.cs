using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation.Checks;

/// <summary>What must hold a while after the orderly stop of a node: nothing of it is left.</summary>
internal static class Stop
{
    internal static void Check(World.World world, Machine machine, Ledger ledger)
    {
        var node = machine.Node;
        Say(machine.Clock.Timers, "timers");
        Say(world.Network.OpenOf(machine), "connections");
        Say(world.Network.ListenersOf(machine), "listeners");
        Say(node.Peers.Mesh.LinkCount, "links");
        Say(node.Calls.InFlight, "calls in flight");
        // The turns of a silo that was declared dead run no more, so the ends of its activations that were under way stay as they are:
        // objects, without timers.
        if (node.Local.Background.Running is { Length: > 0 } running && !(machine.WasEvicted && ledger.Excuses.Say(Excuse.LeftByEvicted)))
            ledger.Accuse("left", machine.Name + " has stopped but background work runs: " + running + ".");
        foreach (var call in ledger.OpenCallsOf(machine))
            ledger.Accuse("left", machine.Name + " has stopped but a call has no end: " + call + ".");

        void Say(int count, string things)
        {
            if (count > 0)
                ledger.Accuse("left", machine.Name + " has stopped but " + count + " " + things + " are left.");
        }
    }
}
