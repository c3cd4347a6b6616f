using ActOp.Mesh;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Directory;
using ActOp.Simulation.Load;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation.Checks;

/// <summary>
/// What must hold at any time, looked at once a second: so a violation is seen when it happens, not only if it lasts until the end.
/// </summary>
/// <remarks>Only reads: the nodes do the same with and without it.</remarks>
internal sealed class Rounds(World.World world, Ledger ledger, Func<Faults> faults)
{
    /// <summary>What was wrong before is over after this, and a lease.</summary>
    private const long Recovery = 30 * Pump.Second;

    /// <summary>A grain that begins, moves or ends is, for a moment, in two places or in none.</summary>
    private const int MostLooks = 3;

    private static readonly MeshOptions Defaults = new();

    /// <summary>A session ends that has been silent for the timeout of keep-alives, looked at once in their interval.</summary>
    private static readonly long MostSilence = (Defaults.KeepAliveTimeout + Defaults.KeepAliveInterval).Ticks;

    /// <summary>Looks in a row at which a grain was doubtful, all of them in one life.</summary>
    private readonly Dictionary<GrainId, (int Looks, Life? Life)> _doubts = [];
    private long _quietSince;

    /// <summary>Looks at the directory while nothing was wrong.</summary>
    internal long Looks { get; private set; }

    internal void Look(TimeSpan grace)
    {
        foreach (var machine in world.Machines)
        {
            if (machine is not { IsRunning: true, State: MachineState.Up })
                continue;
            foreach (var activation in machine.Node.Activations)
                Quiet.CheckLimit(world, activation, ledger);
            CheckCalls(machine, grace);
        }

        // Nobody is told of a black hole: the nodes find out by the silence of its links.
        if (faults().Done.Any(static fault => fault.Until == long.MaxValue)
            || faults().Any(world.Pump.Now - MostSilence, FaultKind.BlackHole) || !Quiet.HasSettled(world))
        {
            _quietSince = world.Pump.Now;
        }

        if (world.Pump.Now - Math.Max(_quietSince, world.ChangedAt) < Recovery + (world.Settings.HasLease ? world.Settings.Lease.Ticks : 0))
            _doubts.Clear();
        else
            CheckDirectory();
    }

    /// <summary>What waits for an answer does not wait for longer than its deadline and the grace.</summary>
    private void CheckCalls(Machine machine, TimeSpan grace)
    {
        if (world.Pump.Now - machine.ResumedAt < grace.Ticks)
            return;
        var late = machine.Node.Local.Clock.Now - (long)grace.TotalMilliseconds;
        foreach (var (call, _) in machine.Node.Calls.Registry.Read())
        {
            if (call.Deadline > 0 && call.Deadline < late)
            {
                ledger.Accuse("slots", "A call of " + machine.Name + " to " + call.TargetId + " (" + call.Method.ActivityName
                    + ") waits " + (late - call.Deadline) + " ms after its deadline and the grace.");
            }
        }
    }

    /// <summary>Each activation is the one that the directory lists, and the directory lists no other.</summary>
    private void CheckDirectory()
    {
        Looks++;
        var silos = world.Silos.ToArray();
        var map = silos[0].Node.DirectoryService.Map;
        var doubtful = new Dictionary<GrainId, Life?>();
        foreach (var number in ledger.Counters)
        {
            var id = Numbers.IdOf(silos[0].Grains, number);
            var owner = silos.FirstOrDefault(silo => silo.Node.Address.Equals(map.OwnerOf(id)));
            if (owner?.Node.DirectoryService.Lookup(id) is { IsCompletedSuccessfully: true } lookup && IsDoubtful(silos, id, lookup.Result))
                doubtful.Add(id, ledger.NewestOf(number));
        }

        foreach (var id in _doubts.Keys.Where(id => !doubtful.ContainsKey(id)).ToArray())
            _doubts.Remove(id);
        foreach (var (id, life) in doubtful)
        {
            // A grain that has moved meanwhile may be seen in one move after the other: each begins slowly.
            var (looks, before) = _doubts.GetValueOrDefault(id);
            _doubts[id] = (before == life ? looks + 1 : 1, life);
            if (_doubts[id].Looks > MostLooks)
                ledger.Accuse("directory", "The directory and the silos do not agree on " + id + ", although nothing is wrong.");
        }
    }

    private static bool IsDoubtful(Machine[] silos, GrainId id, DirectoryReply answer)
    {
        var homes = 0;
        var isListed = false;
        foreach (var silo in silos)
        {
            if (!silo.Node.Activations.TryGet(id, out var activation) || activation.State != ActivationState.Active)
                continue;
            homes++;
            isListed |= answer.Status == DirectoryStatus.Ok && activation.ActivationId.Equals(answer.Location.Activation);
        }

        return homes > 1 || isListed != (homes == 1) || (answer.Status == DirectoryStatus.Ok && homes == 0);
    }
}
