using ActOp.Runtime.Activations;

namespace ActOp.Simulation.Checks;

/// <summary>All states that the life of an activation can reach, and what can happen in each.</summary>
/// <remarks>
/// A state is that of the machine together with what there is around it: see <see cref="LifeFacts"/>. What <see cref="ActivationLife"/> does
/// is modelled here. That the model has everything that happens in nodes is what a simulated run shows (<see cref="LifeEvents"/>); that no
/// state of the model is wrong is what exploring it shows.
/// </remarks>
internal sealed class LifeGraph
{
    private readonly HashSet<LifeState> _states = [];
    private readonly HashSet<(int Code, LifeEvent Happened)> _events = [];
    private readonly List<string> _faults = [];

    private LifeGraph()
    {
    }

    /// <summary>States of the machine with an event that may happen in them.</summary>
    internal IReadOnlySet<(int Code, LifeEvent Happened)> Events => _events;

    internal IReadOnlySet<LifeState> States => _states;

    /// <summary>What is wrong in a state; none if the machine is right.</summary>
    internal IReadOnlyList<string> Faults => _faults;

    /// <summary>Follows all that can happen from the states in which lives begin.</summary>
    internal static LifeGraph Explore()
    {
        var graph = new LifeGraph();
        var left = new Queue<LifeState>([LifeState.New(), LifeState.Waiting(), LifeState.Given(graph)]);
        graph._states.UnionWith(left);
        var before = new Dictionary<LifeState, List<LifeState>>();
        while (left.TryDequeue(out var state))
        {
            state.Check(graph);
            foreach (var next in state.Nexts(graph))
            {
                if (!before.TryGetValue(next, out var list))
                    before[next] = list = [];
                list.Add(state);
                if (graph._states.Add(next))
                    left.Enqueue(next);
            }
        }

        graph.CheckEnds(before);
        return graph;
    }

    internal void Saw(int code, LifeEvent happened) => _events.Add((code, happened));

    internal void Ensure(bool isRight, string rule, LifeState state)
    {
        if (!isRight && _faults.Count < 20)
            _faults.Add(rule + ": " + state);
    }

    /// <summary>From every state, the end can be reached.</summary>
    private void CheckEnds(Dictionary<LifeState, List<LifeState>> before)
    {
        var ending = _states.Where(static state => state.Machine.Phase == LifePhase.Over).ToHashSet();
        var back = new Queue<LifeState>(ending);
        while (back.TryDequeue(out var state))
        {
            foreach (var earlier in before.GetValueOrDefault(state) ?? [])
            {
                if (ending.Add(earlier))
                    back.Enqueue(earlier);
            }
        }

        foreach (var state in _states)
            Ensure(ending.Contains(state), "has no end", state);
    }
}

/// <summary>What there is around the machine.</summary>
[Flags]
internal enum LifeFacts
{
    None = 0,

    /// <summary>The start runs.</summary>
    Starts = 1,

    /// <summary>A target is being chosen.</summary>
    Chooses = 2,

    /// <summary>The steps of the end run.</summary>
    Steps = 4,

    /// <summary>The runtime waits for the outcome of its request.</summary>
    IsOffered = 8,

    /// <summary>Requests may begin.</summary>
    IsOpen = 16,

    /// <summary>A request runs.</summary>
    Runs = 32,

    /// <summary>The check whether no request runs is in the mailbox.</summary>
    RestIsDue = 64,

    /// <summary>The directory has the activation, or may have it.</summary>
    IsListed = 128,

    /// <summary>A failure that nobody has caught.</summary>
    HasFailed = 256,

    /// <summary>Nobody knows whether the storage has what the grain has.</summary>
    IsInDoubt = 512,

    /// <summary>A conflict: the storage has something else.</summary>
    IsOutdated = 1024,

    /// <summary>There is an object that keeps what was requested, or what is in doubt.</summary>
    HasDeparture = 2048,

    /// <summary>An observer or a system target: nobody moves it, and it may be deleted.</summary>
    IsGiven = 4096,
}

/// <summary>A state of a life.</summary>
internal readonly record struct LifeState
{
    private LifeState(LifeMachine machine, LifeFacts facts) => (Machine, Facts) = (machine, facts);

    internal LifeMachine Machine { get; }

    internal LifeFacts Facts { get; }

    public bool Equals(LifeState other) => Machine.Code == other.Machine.Code && Facts == other.Facts;

    public override int GetHashCode() => HashCode.Combine(Machine.Code, Facts);

    public override string ToString() => Machine.Phase + " " + Machine.Code.ToString("x") + ", " + Facts;

    /// <summary>A new activation whose creator starts it.</summary>
    internal static LifeState New() => new(default, LifeFacts.Starts);

    /// <summary>One that its first request starts.</summary>
    internal static LifeState Waiting()
    {
        var machine = default(LifeMachine);
        machine.WaitForFirstRequest();
        return new LifeState(machine, LifeFacts.None);
    }

    /// <summary>An observer or a system target, when it is created.</summary>
    internal static LifeState Given(LifeGraph graph) =>
        new LifeState(default, LifeFacts.IsGiven).Give(graph, LifeEvent.Given).With(LifeFacts.IsOpen);

    internal bool Has(LifeFacts fact) => (Facts & fact) != 0;

    private LifeState With(LifeFacts facts) => new(Machine, Facts | facts);

    private LifeState Without(LifeFacts facts) => new(Machine, Facts & ~facts);

    /// <summary>What must hold in every state.</summary>
    internal void Check(LifeGraph graph)
    {
        if (Machine.Phase == LifePhase.Over)
        {
            graph.Ensure(!Has(LifeFacts.IsOffered | LifeFacts.IsOpen), "something is left at the end", this);
            graph.Ensure(Has(LifeFacts.HasFailed) || !Has(LifeFacts.Starts | LifeFacts.Steps | LifeFacts.IsListed), "is not over", this);
            return;
        }

        // What is decided comes, without anything that nobody has to do.
        graph.Ensure(!Machine.IsEndDecided || Has(LifeFacts.Starts | LifeFacts.Steps | LifeFacts.Runs | LifeFacts.RestIsDue),
            "a decided end does not come", this);
        graph.Ensure(Machine.Phase > LifePhase.Active == Has(LifeFacts.Steps), "the steps do not run, or too early", this);
        graph.Ensure(Machine.Phase == LifePhase.Active == Has(LifeFacts.IsOpen), "takes no calls, or too many", this);
        graph.Ensure(!Machine.IsAsked || Has(LifeFacts.HasDeparture), "a request has no place", this);
        if (Machine.Phase != LifePhase.Active)
            return;
        graph.Ensure(!Has(LifeFacts.IsOffered) || Has(LifeFacts.Runs), "the runtime waits for nothing", this);
        graph.Ensure(Has(LifeFacts.Runs | LifeFacts.RestIsDue) || !Has(LifeFacts.IsOutdated), "goes on with outdated state", this);
        graph.Ensure(Machine.IsAsked || Has(LifeFacts.IsInDoubt) || !Has(LifeFacts.HasDeparture), "keeps a request for nothing", this);
    }

    /// <summary>Everything that can happen.</summary>
    internal IEnumerable<LifeState> Nexts(LifeGraph graph)
    {
        yield return Give(graph, LifeEvent.EndAsked);
        yield return Give(graph, LifeEvent.EndAskedFromOutside);
        yield return Give(graph, LifeEvent.EndForced);
        if (Machine.Phase == LifePhase.FirstRequest)
            yield return Give(graph, LifeEvent.Begin);
        foreach (var next in Has(LifeFacts.IsGiven) ? [Give(graph, LifeEvent.Deleted)] : NextsOfMoves(graph))
            yield return next;
        foreach (var next in NextsOfWork(graph))
            yield return next;
        foreach (var next in NextsOfProcess(graph))
            yield return next;
        foreach (var next in NextsOfDoubt())
            yield return next;
        if (Machine.Phase == LifePhase.Over || Has(LifeFacts.HasFailed))
            yield break;
        // The failure is that of a process, or of something beside it.
        yield return With(LifeFacts.HasFailed).Give(graph, LifeEvent.Failed);
        yield return With(LifeFacts.HasFailed).Without(LifeFacts.Starts | LifeFacts.Steps).Give(graph, LifeEvent.Failed);
    }

    private IEnumerable<LifeState> NextsOfMoves(LifeGraph graph)
    {
        yield return Give(graph, LifeEvent.MoveAsked);
        if (Has(LifeFacts.IsOffered))
            yield return Give(graph, LifeEvent.OfferWithdrawn);
        else if (!Has(LifeFacts.HasDeparture))
            yield return With(LifeFacts.IsOffered).Give(graph, LifeEvent.MoveOffered);
        if (!Has(LifeFacts.Chooses))
            yield break;
        yield return Without(LifeFacts.Chooses).Give(graph, LifeEvent.TargetFound);
        yield return Without(LifeFacts.Chooses).Give(graph, LifeEvent.TargetMissing);
    }

    private IEnumerable<LifeState> NextsOfWork(LifeGraph graph)
    {
        if (Has(LifeFacts.IsOpen) && !Has(LifeFacts.Runs) && !Machine.IsEndDecided)
            yield return With(LifeFacts.Runs);
        if (Has(LifeFacts.Runs))
        {
            var ended = Without(LifeFacts.Runs);
            yield return ended.Has(LifeFacts.HasDeparture) ? ended.Rest(graph) : ended;
            // One of several.
            if (Has(LifeFacts.HasDeparture))
                yield return Rest(graph);
        }

        if (Has(LifeFacts.RestIsDue))
            yield return Without(LifeFacts.RestIsDue).Rest(graph);
    }

    private IEnumerable<LifeState> NextsOfProcess(LifeGraph graph)
    {
        if (Has(LifeFacts.Starts))
        {
            var ended = Without(LifeFacts.Starts);
            yield return ended.With(LifeFacts.IsListed).Give(graph, LifeEvent.Started).Rest(graph);
            foreach (var listed in new[] { ended, ended.With(LifeFacts.IsListed) })
            {
                yield return listed.With(LifeFacts.HasDeparture).Give(graph, LifeEvent.StartUndone);
                yield return listed.With(LifeFacts.HasDeparture).Give(graph, LifeEvent.StartRefused);
            }
        }

        if (!Has(LifeFacts.Steps))
            yield break;
        var isLast = Machine.Phase >= LifePhase.Releasing;
        var left = Machine.Phase is LifePhase.Unlisting or LifePhase.Releasing ? Without(LifeFacts.IsListed) : this;
        yield return (isLast ? left.Without(LifeFacts.Steps | LifeFacts.IsOffered) : left).Give(graph, LifeEvent.StepEnded);
        if (Machine.Phase == LifePhase.Moving)
            yield return Without(LifeFacts.IsListed).Give(graph, LifeEvent.Moved);
    }

    private IEnumerable<LifeState> NextsOfDoubt()
    {
        if (Machine.Phase is LifePhase.Starting or LifePhase.Active && !Has(LifeFacts.IsGiven))
        {
            var due = Has(LifeFacts.Runs) ? LifeFacts.HasDeparture : LifeFacts.HasDeparture | LifeFacts.RestIsDue;
            yield return With(LifeFacts.IsInDoubt | due);
            yield return With(LifeFacts.IsInDoubt | LifeFacts.IsOutdated | due);
        }

        // Another operation that may mend it is under way, and then it has succeeded.
        if (Has(LifeFacts.IsOutdated))
            yield return Without(LifeFacts.IsOutdated);
        if (Has(LifeFacts.IsInDoubt))
        {
            var trusted = Without(LifeFacts.IsInDoubt | LifeFacts.IsOutdated);
            yield return Machine.IsAsked ? trusted : trusted.Without(LifeFacts.HasDeparture);
        }
    }

    private LifeState Rest(LifeGraph graph)
    {
        var next = this;
        if (Has(LifeFacts.IsInDoubt) && Machine.Phase == LifePhase.Active && !Machine.IsEndDecided)
        {
            if (Has(LifeFacts.IsOutdated))
                next = Give(graph, LifeEvent.EndAsked);
            else if (Machine.IsOffered && !Has(LifeFacts.Runs))
                next = Give(graph, LifeEvent.OfferWithdrawn);
        }

        return next.Has(LifeFacts.Runs) ? next : next.Give(graph, LifeEvent.AtRest);
    }

    private LifeState Give(LifeGraph graph, LifeEvent happened)
    {
        graph.Saw(Machine.Code, happened);
        var machine = Machine;
        var actions = machine.On(happened);
        graph.Ensure(Goes(Machine.Phase, machine.Phase), "goes back to " + machine.Phase + " by " + happened, this);
        return new LifeState(machine, Facts).Do(graph, actions, happened);
    }

    /// <summary>As <see cref="ActivationLife"/> does it.</summary>
    private LifeState Do(LifeGraph graph, LifeActions actions, LifeEvent happened)
    {
        var next = this;
        if (actions.HasFlag(LifeActions.Begin))
        {
            next = With(LifeFacts.Starts);
            return happened == LifeEvent.Begin ? next : next.Give(graph, happened);
        }

        if ((actions & (LifeActions.Decide | LifeActions.Choose)) != 0 || (happened == LifeEvent.MoveOffered && Machine.IsOffered))
            next = next.With(LifeFacts.HasDeparture);
        if (actions.HasFlag(LifeActions.Choose))
        {
            graph.Ensure(!Has(LifeFacts.Chooses), "two targets are chosen", this);
            next = next.With(LifeFacts.Chooses);
        }

        if (actions.HasFlag(LifeActions.TakeOffer))
        {
            graph.Ensure(!Has(LifeFacts.IsInDoubt), "is moved with a state in doubt", this);
            next = next.Without(LifeFacts.Chooses);
        }

        if (actions.HasFlag(LifeActions.AnswerBusy))
            next = next.Without(LifeFacts.IsOffered);
        if (actions.HasFlag(LifeActions.DropRequests))
        {
            graph.Ensure(!next.Has(LifeFacts.Chooses | LifeFacts.IsOffered) && !Machine.IsEndDecided, "a request is dropped", this);
            if (!Has(LifeFacts.IsInDoubt))
                next = next.Without(LifeFacts.HasDeparture);
        }

        return next.DoLast(graph, actions, happened);
    }

    private LifeState DoLast(LifeGraph graph, LifeActions actions, LifeEvent happened)
    {
        var next = this;
        if (actions.HasFlag(LifeActions.Open))
        {
            graph.Ensure(!Has(LifeFacts.IsOpen) && !Machine.IsEndDecided, "opens twice, or at its end", this);
            next = next.With(LifeFacts.IsOpen);
        }

        if (actions.HasFlag(LifeActions.Close))
        {
            graph.Ensure(!Has(LifeFacts.Steps), "ends twice", this);
            next = next.Without(LifeFacts.IsOpen).With(LifeFacts.Steps);
        }

        if (actions.HasFlag(LifeActions.Abandon))
            next = next.Without(LifeFacts.IsOffered | LifeFacts.IsOpen);
        if (happened == LifeEvent.Deleted && Machine.Phase == LifePhase.Over)
            next = next.Without(LifeFacts.IsOpen);
        if (actions.HasFlag(LifeActions.RestLater) && !Has(LifeFacts.Runs))
            next = next.With(LifeFacts.RestIsDue);
        return actions.HasFlag(LifeActions.RestNow) ? next.Rest(graph) : next;
    }

    /// <summary>A life does not go back.</summary>
    private static bool Goes(LifePhase from, LifePhase to) =>
        from == to || (from == LifePhase.FirstRequest ? to is LifePhase.Starting or LifePhase.Over : to > from);
}
