using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation.Checks;

/// <summary>
/// Requests of one caller to one grain are done in the order in which they were sent, if the node of the caller has had an answer of this
/// activation before, the activation stays, and no fault has come to a link or a machine meanwhile. After a move, over a lost link, or
/// before the location is known, nothing is promised.
/// </summary>
internal sealed class Order(World.World world, Ledger ledger, Func<Faults> faults)
{
    /// <summary>A fault may have its effect on a link this long after it is over.</summary>
    private const long Aftermath = 10 * Pump.Second;

    private readonly Dictionary<(Machine, long), Life> _answeredBy = [];
    private readonly Dictionary<long, Burst> _bursts = [];

    /// <summary>Requests that were compared with the one before.</summary>
    internal long Compared { get; private set; }

    /// <summary>A call of the machine to the grain was answered, and this life had done it.</summary>
    internal void Answered(Machine machine, long counter, Life life) => _answeredBy[(machine, counter)] = life;

    /// <summary>Calls that are sent one after the other begin. Null if nothing is promised for them.</summary>
    internal Burst? Begin(Machine machine, long counter) =>
        _answeredBy.TryGetValue((machine, counter), out var life) && ledger.NewestOf(counter) == life && life.EndReason is null
            ? new Burst(life, machine, world.Pump.Now) : null;

    /// <summary>The next call of a burst is about to be sent.</summary>
    internal void Sent(Burst? burst, long id)
    {
        if (burst is not null)
            _bursts[id] = burst;
    }

    internal void Applied(Life life, long id)
    {
        if (!_bursts.Remove(id, out var burst) || burst.Life != life || life.EndReason is not null)
            return;
        if (burst.Last > id && !faults().Any(burst.Since - Aftermath, Ledger.Disturbing))
        {
            ledger.Accuse("order", "The grain " + life.Counter + " has done the call " + id + " of " + burst.Machine.Name + " after "
                + burst.Last + ", which was sent later.");
        }

        Compared += burst.Last > 0 ? 1 : 0;
        burst.Last = Math.Max(burst.Last, id);
    }

    /// <summary>Calls to one grain that were sent one after the other.</summary>
    internal sealed class Burst(Life life, Machine machine, long since)
    {
        internal Life Life => life;

        internal Machine Machine => machine;

        internal long Since => since;

        /// <summary>The latest that was done.</summary>
        internal long Last { get; set; }
    }
}
