using System.Globalization;
using ActOp.Staging.Model;

namespace ActOp.Staging.Control;

/// <summary>
/// Allocates threads by the queueing model (paper section 5.3) for the smoothed demand of the stages. It changes the allocation at once
/// when the demand makes a step or a stage cannot keep up. Otherwise two decisions in a row must favour a change, and a stage that has got
/// threads keeps them for some periods, so that a constant load has a constant allocation. A thread that is held by a long event is
/// replaced by another one, because the event may wait for an event behind it in the queue.
/// </summary>
/// <param name="settings">The parameters.</param>
public sealed class ModelController(ModelControllerSettings settings) : IThreadController
{
    private readonly ThreadModel _strict = new(settings.Processors, settings.Penalty);
    private readonly ThreadRounding _rounding =
        new(new ThreadModel(settings.Processors * settings.Headroom, settings.Penalty), settings.Minimum, settings.Maximum);
    private readonly SmoothedDemands _smoothed = new(settings);
    private long[] _grown = [];
    private bool[] _hasWorked = [];
    private long _period;
    private bool _wantedLast;

    /// <summary>The smoothed demand of each stage at the last decision.</summary>
    public IReadOnlyList<StageDemand> Demands => _smoothed.Demands;

    /// <inheritdoc/>
    public ThreadDecision Decide(IReadOnlyList<StagePeriod> stages)
    {
        if (_grown.Length != stages.Count)
            (_grown, _hasWorked) = ([.. stages.Select(static _ => long.MinValue)], new bool[stages.Count]);
        var isStep = _smoothed.AddPeriod(stages);
        ForgetGrowth();
        NoteWork();
        _period++;
        int[] free = [.. stages.Select(static stage => stage.Threads - stage.Held)];
        // Overload is judged by the processors without the headroom.
        var shares = _strict.IsFeasible(Demands) ? _rounding.Model.Solve(Demands) : _strict.Solve(Demands);
        var best = Hold(stages, free, _rounding.Round(Demands, shares).Threads);
        if (best.SequenceEqual(free))
        {
            _wantedLast = false;
            return Choose(stages, free, "best", shares);
        }

        var gain = Gain(stages, free, best, shares);
        var isWanted = gain > settings.Hysteresis;
        var acts = isWanted && (isStep || double.IsPositiveInfinity(gain) || _wantedLast);
        _wantedLast = isWanted && !acts;
        if (!acts)
            return Choose(stages, free, "kept", shares);
        NoteGrowth(free, best);
        var verdict = shares.IsOverloaded ? "overload" : double.IsPositiveInfinity(gain) ? "fell behind" : isStep ? "step" : "better";
        return Choose(stages, best, verdict, shares);
    }

    /// <summary>The relative improvement of the objective; infinite when only the best allocation keeps up.</summary>
    private double Gain(IReadOnlyList<StagePeriod> stages, int[] current, int[] best, ThreadShares shares)
    {
        if (current.Zip(stages).Any(pair => pair.First < Fewest(pair.Second)))
            return double.PositiveInfinity;
        // One thread more or less makes no difference then.
        if (shares.IsOverloaded)
            return best.Zip(current).Max(static pair => (Math.Abs((double)pair.First - pair.Second) - 1) / pair.Second);
        var (now, then) = (_rounding.Value(Demands, current, shares.Multiplier), _rounding.Value(Demands, best, shares.Multiplier));
        if (double.IsPositiveInfinity(then))
            return 0;
        return double.IsPositiveInfinity(now) ? now : (now - then) / now;
    }

    /// <summary>
    /// A stage that grew keeps its threads for some periods: its optimum may be near the border of two numbers, and noise must not make it
    /// alternate. A stage without events so far keeps its initial threads, so that the first burst does not wait for threads.
    /// </summary>
    private int[] Hold(IReadOnlyList<StagePeriod> stages, int[] current, IReadOnlyList<int> best) =>
        [.. best.Select((count, i)
            => Math.Max(Fewest(stages[i]), count < current[i] && (!_hasWorked[i] || _grown[i] > _period - settings.PeriodsToReverse)
                ? current[i] : count))];

    private int Fewest(StagePeriod stage) => Math.Clamp(stage.Fewest, settings.Minimum, settings.Maximum);

    private void NoteWork()
    {
        for (var i = 0; i < _hasWorked.Length; i++)
            _hasWorked[i] |= Demands[i].Arrivals > 0;
    }

    private void NoteGrowth(int[] current, int[] best)
    {
        for (var i = 0; i < best.Length; i++)
        {
            if (best[i] > current[i])
                _grown[i] = _period;
        }
    }

    private void ForgetGrowth()
    {
        for (var i = 0; i < _grown.Length; i++)
        {
            if (_smoothed.MadeStep(i))
                _grown[i] = long.MinValue;
        }
    }

    private ThreadDecision Choose(IReadOnlyList<StagePeriod> stages, int[] free, string verdict, ThreadShares shares) =>
        new(
            [.. stages.Select((stage, i) => Math.Min(free[i] + stage.Held, Math.Max(settings.Maximum, stage.Threads)))],
            Describe(verdict, shares));

    private string Describe(string verdict, ThreadShares shares) => string.Create(
        CultureInfo.InvariantCulture,
        $"{verdict}; busy {string.Join('/', Demands.Select(static demand => Short(demand.BusyThreads)))}, "
        + $"processors {string.Join('/', Demands.Select(static demand => Short(demand.Processors)))} of {settings.Processors:0.##}, "
        + $"optimum {string.Join('/', shares.Threads.Select(Short))}");

    private static string Short(double number) => number.ToString("0.##", CultureInfo.InvariantCulture);
}

/// <summary>The parameters of a <see cref="ModelController"/>.</summary>
/// <param name="Processors">Processors that the process may use, p.</param>
/// <param name="Penalty">What a thread costs in latency, eta, in seconds per thread.</param>
public sealed record ModelControllerSettings(double Processors, double Penalty)
{
    /// <summary>
    /// Limit of the processors that all threads together may need, as a multiple of the existing ones. Default 1.5: the paper's constraint
    /// (1) counts every thread as busy, but one that waits for work uses no processor. In the emulator 1 leaves stages near saturation, 1.5
    /// more than halves the latency, and 3 collapses under load.
    /// </summary>
    public double Headroom { get; init; } = 1.5;

    /// <summary>The fewest threads of a stage. Default 1.</summary>
    public int Minimum { get; init; } = 1;

    /// <summary>The most threads of a stage. Default 64: if more were needed, calls block for so long that threads do not help.</summary>
    public int Maximum { get; init; } = 64;

    /// <summary>Seconds between decisions; with the arrivals it gives the number of events in a measurement. Default 1.</summary>
    public double Period { get; init; } = 1;

    /// <summary>
    /// Weight of the last period in the smoothed demand, above 0 to 1. Default 0.3: three periods have two thirds of the weight. Lower when
    /// a period has few events.
    /// </summary>
    public double Smoothing { get; init; } = 0.3;

    /// <summary>
    /// A demand that differs by more than this share from the smoothed one is a step and replaces it. Default 0.3; more when few events
    /// make more noise. Two periods in a row must agree.
    /// </summary>
    public double StepShare { get; init; } = 0.3;

    /// <summary>A change must improve the objective by this share. Default 0.1: less is not distinguishable from noise.</summary>
    public double Hysteresis { get; init; } = 0.1;

    /// <summary>
    /// Periods for which a stage that got threads keeps them, unless its demand makes a step. Default 60: a minute of periods of one
    /// second.
    /// </summary>
    public int PeriodsToReverse { get; init; } = 60;
}

/// <summary>
/// The smoothed demand of the stages: an exponential moving average that is reset when two periods in a row show a step of the demand.
/// </summary>
internal sealed class SmoothedDemands(ModelControllerSettings settings)
{
    /// <summary>A change of demand below this many busy threads is never a step.</summary>
    private const double LeastStep = 0.02;

    /// <summary>Limit of the noise, in relative standard deviations of one exponentially distributed time.</summary>
    private const double StepDeviations = 5;

    /// <summary>The smoothed demand covers at least this many events: at low rates it covers more periods.</summary>
    private const double EventsRemembered = 3000;

    private StageDemand[] _demands = [];
    private int[] _directions = [];
    private bool[] _steps = [];
    private double[] _events = [];

    internal IReadOnlyList<StageDemand> Demands => _demands;

    /// <summary>Whether the demand of a stage made a step in the last period.</summary>
    internal bool MadeStep(int stage) => _steps[stage];

    /// <summary>Adds a period. True when the demand of a stage made a step.</summary>
    internal bool AddPeriod(IReadOnlyList<StagePeriod> stages)
    {
        if (_demands.Length != stages.Count)
        {
            Begin(stages);
            return true;
        }

        for (var i = 0; i < stages.Count; i++)
            AddPeriod(i, stages[i].Demand);
        return _steps.Contains(true);
    }

    private void Begin(IReadOnlyList<StagePeriod> stages)
    {
        _demands = [.. stages.Select(static stage => stage.Demand)];
        _directions = new int[stages.Count];
        _steps = new bool[stages.Count];
        _events = [.. _demands.Select(demand => demand.Arrivals * settings.Period)];
    }

    private void AddPeriod(int stage, StageDemand now)
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

    /// <summary>The mean over all events while there are few, then an exponential moving average.</summary>
    private double Weight(int stage, double events)
    {
        _events[stage] = Math.Min(_events[stage] + events, EventsRemembered);
        return Math.Min(settings.Smoothing, events / _events[stage]);
    }

    /// <summary>The direction of a change beyond noise; fewer events have more noise.</summary>
    private int Direction(double old, double now, double events)
    {
        var noise = Math.Max(settings.StepShare, StepDeviations / Math.Sqrt(Math.Max(1, events)));
        return Math.Abs(now - old) > Math.Max(LeastStep, noise * old) ? Math.Sign(now - old) : 0;
    }

    private static StageDemand Mix(StageDemand old, StageDemand now, double weight) =>
        new(Mix(old.Arrivals, now.Arrivals, weight), Mix(old.Compute, now.Compute, weight), Mix(old.Blocked, now.Blocked, weight));

    private static double Mix(double old, double now, double weight) => old + (weight * (now - old));
}
