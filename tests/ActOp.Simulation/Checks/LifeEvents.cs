using ActOp.Runtime.Activations;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation.Checks;

/// <summary>
/// Compares what happens in the lives of all activations of a run with the model: nothing may happen in a state in which the model does not
/// have it. So what holds in all states of the model holds in the nodes.
/// </summary>
internal sealed class LifeEvents(World.World world, Ledger ledger)
{
    private static readonly LifeGraph Model = LifeGraph.Explore();

    private readonly HashSet<(int Code, LifeEvent Happened)> _kinds = [];

    /// <summary>States of the machine with an event that may happen in them.</summary>
    internal static int AllKinds => Model.Events.Count;

    /// <summary>Those that have happened.</summary>
    internal IReadOnlySet<(int Code, LifeEvent Happened)> Kinds => _kinds;

    internal long Count { get; private set; }

    internal void See(Machine machine, Activation activation, LifeMachine before, LifeEvent happened)
    {
        Count++;
        if (world.Pump.IsTraced)
            world.Pump.Write(machine, EventKind.Check, activation.GrainId + " " + before.Phase + " " + happened);
        if (_kinds.Add((before.Code, happened)) && !Model.Events.Contains((before.Code, happened)))
        {
            ledger.Accuse("life", "The model of a life does not have " + happened + " in the state " + before.Phase + " ("
                + before.Code.ToString("x") + ") of " + activation + ".");
        }
    }
}
