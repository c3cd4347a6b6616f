using ActOp.Staging.Model;

namespace ActOp.Staging.Control;

/// <summary>
/// What the stages have to do, with noise taken out: a fading mean, until two periods in a row say that the demand has made a step.
/// </summary>
internal sealed class SmoothedDemands(ModelControllerSettings settings)
{
    /// <summary>A change of demand below this many busy threads is no step, whatever its share.</summary>
    private const double LeastStep = 0.02;

    /// <summary>Relative deviations of a single exponential time that noise stays below.</summary>
    private const double StepDeviations = 5;

    /// <summary>Events that the smoothed demand rests on at least: with fewer a second it reaches farther back.</summary>
    private const double EventsRemembered = 3000;

    private StageDemand[] _demands = [];
    private int[] _directions = [];
    private bool[] _steps = [];
    private double[] _events = [];

    internal IReadOnlyList<StageDemand> Demands => _demands;

    /// <summary>Whether the demand of a stage made a step in the last period.</summary>
    internal bool MadeStep(int stage) => _steps[stage];

    /// <summary>Takes a period in; true when the demand of some stage made a step.</summary>
    internal bool Take(IReadOnlyList<StagePeriod> stages)
    {
        if (_demands.Length != stages.Count)
        {
            Begin(stages);
            return true;
        }

        for (var i = 0; i < stages.Count; i++)
            Take(i, stages[i].Demand);
        return _steps.Contains(true);
    }

    private void Begin(IReadOnlyList<StagePeriod> stages)
    {
        _demands = [.. stages.Select(static stage => stage.Demand)];
        _directions = new int[stages.Count];
        _steps = new bool[stages.Count];
        _events = [.. _demands.Select(demand => demand.Arrivals * settings.Period)];
    }

    private void Take(int stage, StageDemand now)
    {
        var old = _demands[stage];
        var events = Math.Max(old.Arrivals, now.Arrivals) * settings.Period;
        var direction = Direction(old.BusyThreads, now.BusyThreads, events);
        _steps[stage] = direction != 0 && direction == _directions[stage];
        _directions[stage] = direction;
        if (_steps[stage])
            (_demands[stage], _events[stage]) = (now, events);
        else if (old.Arrivals == 0)
            _demands[stage] = now;
        else if (now.Arrivals > 0)
            _demands[stage] = Mix(old, now, Weight(stage, events));
    }

    /// <summary>A plain mean over all events until it rests on many; then a fading one.</summary>
    private double Weight(int stage, double events)
    {
        _events[stage] = Math.Min(_events[stage] + events, EventsRemembered);
        return Math.Min(settings.Smoothing, events / _events[stage]);
    }

    /// <summary>Up or down when the demand moved by more than noise: the fewer events, the more noise.</summary>
    private int Direction(double old, double now, double events)
    {
        var noise = Math.Max(settings.StepShare, StepDeviations / Math.Sqrt(Math.Max(1, events)));
        return Math.Abs(now - old) > Math.Max(LeastStep, noise * old) ? Math.Sign(now - old) : 0;
    }

    private static StageDemand Mix(StageDemand old, StageDemand now, double weight) =>
        new(Mix(old.Arrivals, now.Arrivals, weight), Mix(old.Compute, now.Compute, weight), Mix(old.Blocked, now.Blocked, weight));

    private static double Mix(double old, double now, double weight) => old + (weight * (now - old));
}
