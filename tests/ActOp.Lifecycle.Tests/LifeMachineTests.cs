using ActOp.Runtime.Activations;
using ActOp.Simulation.Checks;

namespace ActOp.Lifecycle.Tests;

/// <summary>
/// All states that the life of an activation can reach, with everything that can happen in each: requests that run and end, a start that
/// succeeds, fails or is cancelled, targets that are found or not, requests for ends and moves at any time, states in doubt, and failures.
/// </summary>
public sealed class LifeMachineTests
{
    [Fact]
    public void Every_state_leads_to_the_end_and_nothing_is_done_twice_or_left()
    {
        var graph = LifeGraph.Explore();
        Assert.Empty(graph.Faults);
        Assert.All(Enum.GetValues<LifePhase>(), phase => Assert.Contains(graph.States, state => state.Machine.Phase == phase));
        Assert.All(Enum.GetValues<LifeEvent>(), happened => Assert.Contains(graph.Events, pair => pair.Happened == happened));
        Assert.True(graph.States.Count > 1000, graph.States.Count + " states");
    }

    [Fact]
    public void An_event_that_comes_after_the_end_has_no_effect_and_an_offer_is_answered()
    {
        foreach (var late in Enum.GetValues<LifeEvent>())
        {
            var machine = default(LifeMachine);
            machine.On(LifeEvent.Failed);
            Assert.Equal(late == LifeEvent.MoveOffered ? LifeActions.AnswerBusy : LifeActions.None, machine.On(late));
            Assert.Equal(LifePhase.Over, machine.Phase);
        }
    }

    [Fact]
    public void A_life_takes_as_much_memory_as_before()
    {
        Assert.Equal(2, System.Runtime.CompilerServices.Unsafe.SizeOf<LifeMachine>());
        Assert.Equal(16, System.Runtime.CompilerServices.Unsafe.SizeOf<ActivationLife>());
    }
}
