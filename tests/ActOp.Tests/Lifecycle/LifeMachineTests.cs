using ActOp.Runtime.Activations;

namespace ActOp.Tests.Lifecycle;

/// <summary>
/// All states that the life of an activation can reach, with everything that can happen in each: requests that run and end, a start that
/// succeeds, fails or is cancelled, targets that are found or not, requests for ends and moves at any time, and failures.
/// </summary>
public sealed class LifeMachineTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Every_state_leads_to_the_end_and_nothing_is_done_twice_or_left(bool waitsForFirstRequest)
    {
        var first = World.New(waitsForFirstRequest);
        var seen = new HashSet<World> { first };
        var left = new Queue<World>([first]);
        var before = new Dictionary<World, List<World>>();
        while (left.TryDequeue(out var world))
        {
            world.Check();
            foreach (var next in world.Nexts())
            {
                if (!before.TryGetValue(next, out var list))
                    before[next] = list = [];
                list.Add(world);
                if (seen.Add(next))
                    left.Enqueue(next);
            }
        }

        // From the ends back.
        var ending = new HashSet<World>(seen.Where(static world => world.Machine.Phase == LifePhase.Over));
        var back = new Queue<World>(ending);
        while (back.TryDequeue(out var world))
        {
            foreach (var earlier in before.GetValueOrDefault(world) ?? [])
            {
                if (ending.Add(earlier))
                    back.Enqueue(earlier);
            }
        }

        Assert.True(seen.Count > 100, seen.Count.ToString(System.Globalization.CultureInfo.InvariantCulture));
        Assert.True(seen.SetEquals(ending));
        Assert.All(Enum.GetValues<LifePhase>().Where(phase => waitsForFirstRequest || phase != LifePhase.FirstRequest),
            phase => Assert.Contains(seen, world => world.Machine.Phase == phase));
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

    /// <summary>The machine, and what there is around it.</summary>
    /// <param name="Machine">The machine.</param>
    /// <param name="Starts">The start runs.</param>
    /// <param name="Chooses">A target is being chosen.</param>
    /// <param name="Steps">The steps of the end run.</param>
    /// <param name="IsOffered">The runtime waits for the outcome of its request.</param>
    /// <param name="IsOpen">Requests may begin.</param>
    /// <param name="Runs">A request runs.</param>
    /// <param name="RestIsDue">The check whether no request runs is in the mailbox.</param>
    /// <param name="IsListed">The directory has the activation, or may have it.</param>
    /// <param name="HasFailed">A failure that nobody has caught.</param>
    private sealed record World(
        LifeMachine Machine, bool Starts, bool Chooses, bool Steps, bool IsOffered, bool IsOpen, bool Runs, bool RestIsDue, bool IsListed,
        bool HasFailed)
    {
        internal static World New(bool waitsForFirstRequest)
        {
            var machine = default(LifeMachine);
            if (waitsForFirstRequest)
                machine.WaitForFirstRequest();
            return new World(machine, !waitsForFirstRequest, false, false, false, false, false, false, false, false);
        }

        public bool Equals(World? other) => other is not null && Key == other.Key;

        public override int GetHashCode() => Key.GetHashCode();

        private (int Code, bool Starts, bool Chooses, bool Steps, bool IsOffered, int Others) Key => (Machine.Code, Starts, Chooses, Steps,
            IsOffered, (IsOpen ? 1 : 0) | (Runs ? 2 : 0) | (RestIsDue ? 4 : 0) | (IsListed ? 8 : 0) | (HasFailed ? 16 : 0));

        internal void Check()
        {
            if (Machine.Phase == LifePhase.Over)
            {
                Assert.False(Starts || Steps || IsOffered || IsOpen, ToString());
                Assert.True(HasFailed || !IsListed, ToString());
                return;
            }

            // What is decided comes, without anything that nobody has to do.
            if (Machine.IsEndDecided)
                Assert.True(Starts || Steps || Runs || RestIsDue, ToString());
            Assert.Equal(Machine.Phase is > LifePhase.Active, Steps);
            Assert.Equal(Machine.Phase == LifePhase.Active, IsOpen);
            // The runtime waits only for requests that run.
            if (IsOffered && Machine.Phase == LifePhase.Active)
                Assert.True(Runs, ToString());
        }

        internal IEnumerable<World> Nexts()
        {
            yield return Give(LifeEvent.EndAsked);
            yield return Give(LifeEvent.EndAskedFromOutside);
            yield return Give(LifeEvent.EndForced);
            yield return Give(LifeEvent.MoveAsked);
            yield return Give(LifeEvent.Begin);
            if (!IsOffered)
                yield return (this with { IsOffered = true }).Give(LifeEvent.MoveOffered);
            else
                yield return Give(LifeEvent.OfferWithdrawn);
            if (Machine.Phase != LifePhase.Over)
                yield return (this with { HasFailed = true }).Give(LifeEvent.Failed);
            foreach (var next in NextsOfWork())
                yield return next;
        }

        private IEnumerable<World> NextsOfWork()
        {
            if (IsOpen && !Runs && !Machine.IsEndDecided)
                yield return this with { Runs = true };
            if (Runs)
                yield return (this with { Runs = false }).Give(LifeEvent.AtRest);
            if (RestIsDue)
                yield return (this with { RestIsDue = false }).Rest();
            if (Chooses)
            {
                yield return (this with { Chooses = false }).Give(LifeEvent.TargetFound);
                yield return (this with { Chooses = false }).Give(LifeEvent.TargetMissing);
            }

            if (Starts)
            {
                yield return (this with { Starts = false, IsListed = true }).Give(LifeEvent.Started);
                yield return (this with { Starts = false, IsListed = true }).Give(LifeEvent.StartRefused);
                yield return (this with { Starts = false, IsListed = true }).Give(LifeEvent.StartUndone);
                yield return (this with { Starts = false }).Give(LifeEvent.StartUndone);
            }

            if (Steps)
            {
                var unlists = Machine.Phase == LifePhase.Unlisting;
                yield return (this with { IsListed = IsListed && !unlists }).Give(LifeEvent.StepEnded);
                if (Machine.Phase == LifePhase.Moving)
                    yield return (this with { IsListed = false }).Give(LifeEvent.Moved);
            }
        }

        private World Rest() => Runs ? this : Give(LifeEvent.AtRest);

        private World Give(LifeEvent happened)
        {
            var machine = Machine;
            var actions = machine.On(happened);
            Assert.False(Goes(Machine.Phase, machine.Phase) is false, Machine.Phase + " -> " + machine.Phase + " by " + happened);
            return (this with { Machine = machine }).Do(actions, happened);
        }

        /// <summary>As <see cref="ActivationLife"/> does it.</summary>
        private World Do(LifeActions actions, LifeEvent happened)
        {
            var next = this;
            if (actions.HasFlag(LifeActions.Begin))
            {
                next = next with { Starts = true };
                return happened == LifeEvent.Begin ? next : next.Give(happened);
            }

            if (actions.HasFlag(LifeActions.Choose))
            {
                Assert.False(Chooses);
                next = next with { Chooses = true };
            }

            if (actions.HasFlag(LifeActions.TakeOffer))
                next = next with { Chooses = false };
            if (actions.HasFlag(LifeActions.AnswerBusy))
                next = next with { IsOffered = false };
            if (actions.HasFlag(LifeActions.DropRequests))
                Assert.False(next.Chooses || next.IsOffered || Machine.IsEndDecided, ToString());
            if (actions.HasFlag(LifeActions.Open))
            {
                Assert.False(IsOpen || Machine.IsEndDecided, ToString());
                next = next with { IsOpen = true };
            }

            if (actions.HasFlag(LifeActions.Close))
            {
                Assert.False(Steps, ToString());
                next = next with { IsOpen = false, Steps = true };
            }

            if (actions.HasFlag(LifeActions.Abandon) || Machine.Phase == LifePhase.Over)
                next = next with { IsOffered = false, Steps = false, Starts = false, IsOpen = false };
            if (actions.HasFlag(LifeActions.RestLater) && !Runs)
                next = next with { RestIsDue = true };
            return actions.HasFlag(LifeActions.RestNow) ? next.Rest() : next;
        }

        /// <summary>A life does not go back.</summary>
        private static bool Goes(LifePhase from, LifePhase to) =>
            from == to || (from == LifePhase.FirstRequest ? to is LifePhase.Starting or LifePhase.Over : to > from);
    }
}
