using System.Globalization;
using ActOp.Staging.Model;

namespace ActOp.Staging.Control;

/// <summary>
/// Gives the stages the threads that the queueing model finds best (paper section 5.3) for their smoothed demand. It acts at once when the
/// demand makes a step or a stage falls behind; otherwise a change has to be worth it twice in a row, and a stage that got threads keeps
/// them for a while, so that constant load means constant threads. Threads that a long event holds are out of service, so each is replaced:
/// what they wait for may be behind them in the queue.
/// </summary>
/// <param name="settings">How.</param>
public sealed class ModelController(ModelControllerSettings settings) : IThreadController
{
    private readonly ThreadModel _strict = new(settings.Processors, settings.Penalty);
    private readonly ThreadRounding _rounding = new(new ThreadModel(settings.Processors * settings.Headroom, settings.Penalty), settings.Minimum, settings.Maximum);
    private readonly SmoothedDemands _smoothed = new(settings);
    private long[] _grown = [];
    private bool[] _hasWorked = [];
    private long _period;
    private bool _wantedLast;

    /// <summary>The smoothed demand of each stage that the last decision was made from.</summary>
    public IReadOnlyList<StageDemand> Demands => _smoothed.Demands;

    /// <inheritdoc/>
    public ThreadDecision Decide(IReadOnlyList<StagePeriod> stages)
    {
        if (_grown.Length != stages.Count)
            (_grown, _hasWorked) = ([.. stages.Select(static _ => long.MinValue)], new bool[stages.Count]);
        var isStep = _smoothed.Take(stages);
        ForgetGrowth();
        NoteWork();
        _period++;
        int[] free = [.. stages.Select(static stage => stage.Threads - stage.Held)];
        // Without the headroom the processors tell what is overload.
        var shares = _strict.IsFeasible(Demands) ? _rounding.Model.Solve(Demands) : _strict.Solve(Demands);
        var best = Hold(free, _rounding.Round(Demands, shares).Threads);
        if (best.SequenceEqual(free))
        {
            _wantedLast = false;
            return Choose(stages, free, "best", shares);
        }

        var gain = Gain(free, best, shares);
        var isWanted = gain > settings.Hysteresis;
        var acts = isWanted && (isStep || double.IsPositiveInfinity(gain) || _wantedLast);
        _wantedLast = isWanted && !acts;
        if (!acts)
            return Choose(stages, free, "kept", shares);
        NoteGrowth(free, best);
        return Choose(stages, best, shares.IsOverloaded ? "overload" : double.IsPositiveInfinity(gain) ? "fell behind" : isStep ? "step" : "better", shares);
    }

    /// <summary>By which share the objective falls; infinite when the current threads cannot keep up and the best can.</summary>
    private double Gain(int[] current, int[] best, ThreadShares shares)
    {
        if (current.Any(count => count < settings.Minimum))
            return double.PositiveInfinity;
        // A thread more or less is no matter then.
        if (shares.IsOverloaded)
            return best.Zip(current).Max(static pair => (Math.Abs((double)pair.First - pair.Second) - 1) / pair.Second);
        var (now, then) = (_rounding.Value(Demands, current, shares.Multiplier), _rounding.Value(Demands, best, shares.Multiplier));
        if (double.IsPositiveInfinity(then))
            return 0;
        return double.IsPositiveInfinity(now) ? now : (now - then) / now;
    }

    /// <summary>
    /// A stage that grew keeps its threads for a while: what it needs is near a whole number, and noise must not make it flip.
    /// One that has done nothing yet keeps what it began with: nothing speaks against it, and the first burst must not wait for threads.
    /// </summary>
    private int[] Hold(int[] current, IReadOnlyList<int> best) =>
        [.. best.Select((count, i) => count < current[i] && (!_hasWorked[i] || _grown[i] > _period - settings.PeriodsToReverse) ? current[i] : count)];

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
        new([.. stages.Select((stage, i) => Math.Min(free[i] + stage.Held, Math.Max(settings.Maximum, stage.Threads)))], Describe(verdict, shares));

    private string Describe(string verdict, ThreadShares shares) => string.Create(
        CultureInfo.InvariantCulture,
        $"{verdict}; busy {string.Join('/', Demands.Select(static demand => Short(demand.BusyThreads)))}, processors {string.Join('/', Demands.Select(static demand => Short(demand.Processors)))} of {settings.Processors:0.##}, optimum {string.Join('/', shares.Threads.Select(Short))}");

    private static string Short(double number) => number.ToString("0.##", CultureInfo.InvariantCulture);
}
