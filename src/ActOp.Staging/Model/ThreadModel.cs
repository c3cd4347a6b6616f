namespace ActOp.Staging.Model;

/// <summary>
/// How many threads each stage should have so that latency is least (paper section 5.3): minimises (*) = 1/lambda_tot sum lambda_i/(s_i t_i
/// - lambda_i) + eta sum t_i, so that every stage is stable and sum beta_i t_i is at most p. Pure.
/// </summary>
/// <param name="processors">Processors that the process may use, p, above zero.</param>
/// <param name="penalty">What a thread costs in latency, eta, in seconds per thread, above zero. The paper calibrated 100
/// microseconds.</param>
public sealed class ThreadModel(double processors, double penalty)
{
    private const double Accuracy = 1e-12;
    private const int MaxIterations = 200;

    /// <summary>Processors that the process may use, p.</summary>
    public double Processors { get; } = double.IsFinite(processors) && processors > 0
        ? processors : throw new ArgumentOutOfRangeException(nameof(processors), processors, "The number of processors is finite and above zero.");

    /// <summary>What a thread costs in latency, eta, in seconds per thread.</summary>
    public double Penalty { get; } = double.IsFinite(penalty) && penalty > 0
        ? penalty : throw new ArgumentOutOfRangeException(nameof(penalty), penalty, "The penalty of a thread is finite and above zero.");

    /// <summary>Whether the stages need less than all processors: sum lambda_i beta_i/s_i below p.</summary>
    /// <param name="stages">The stages.</param>
    /// <returns>False when no allocation is stable.</returns>
    /// <exception cref="ArgumentOutOfRangeException">A stage has impossible figures.</exception>
    public bool IsFeasible(IReadOnlyList<StageDemand> stages) => Totals(stages).Processors < Processors;

    /// <summary>
    /// The least penalty for which the processors do not bind, zeta of Theorem 2, in seconds per thread; infinite when the stages need all
    /// processors or more.
    /// </summary>
    /// <param name="stages">The stages.</param>
    /// <returns>Zeta; 0 without arrivals.</returns>
    /// <exception cref="ArgumentOutOfRangeException">A stage has impossible figures.</exception>
    public double Threshold(IReadOnlyList<StageDemand> stages)
    {
        var (total, busy) = Totals(stages);
        if (total == 0)
            return 0;
        if (busy >= Processors)
            return double.PositiveInfinity;
        var slope = stages.Sum(static stage => stage.Arrivals == 0 ? 0 : stage.ProcessorShare * Math.Sqrt(stage.BusyThreads));
        var ratio = slope / (Processors - busy);
        return ratio * ratio / total;
    }

    /// <summary>
    /// The optimum over real numbers of threads: Theorem 2's closed form when the penalty is at least <see cref="Threshold"/>, else the
    /// point where the processors are just used up, t_i = lambda_i/s_i + sqrt(lambda_i / (lambda_tot s_i (eta + theta beta_i))), theta by
    /// Newton's method. Stages that together need all processors or more get them in proportion to their demand; that is not stable and marked
    /// as overload.
    /// </summary>
    /// <param name="stages">The stages; one without arrivals gets 0 threads.</param>
    /// <returns>The threads of each stage.</returns>
    /// <exception cref="ArgumentOutOfRangeException">A stage has impossible figures.</exception>
    public ThreadShares Solve(IReadOnlyList<StageDemand> stages)
    {
        var (total, busy) = Totals(stages);
        if (total == 0)
            return new(new double[stages.Count], 0, false);
        if (busy >= Processors)
            return new([.. stages.Select(stage => stage.BusyThreads * Processors / busy)], double.PositiveInfinity, true);
        if (Penalty >= Threshold(stages))
            return new(At(stages, total, 0), 0, false);
        var multiplier = Multiplier(stages, total);
        return new(At(stages, total, multiplier), multiplier, false);
    }

    /// <summary>The value of (*), in seconds.</summary>
    /// <param name="stages">The stages.</param>
    /// <param name="threads">The threads of each.</param>
    /// <returns>Infinite when a stage is not stable.</returns>
    public double Objective(IReadOnlyList<StageDemand> stages, IReadOnlyList<double> threads)
    {
        var total = stages.Sum(static stage => stage.Arrivals);
        double latency = 0;
        for (var i = 0; i < stages.Count; i++)
        {
            if (stages[i].Arrivals == 0)
                continue;
            var spare = (stages[i].ServiceRate * threads[i]) - stages[i].Arrivals;
            if (spare <= 0)
                return double.PositiveInfinity;
            latency += stages[i].Arrivals / spare;
        }

        return (total == 0 ? 0 : latency / total) + (Penalty * threads.Sum());
    }

    private double[] At(IReadOnlyList<StageDemand> stages, double total, double multiplier) =>
        [.. stages.Select(stage => stage.Arrivals == 0
            ? 0 : stage.BusyThreads + Math.Sqrt(stage.BusyThreads / (total * (Penalty + (multiplier * stage.ProcessorShare)))))];

    // The use of processors above p falls and is convex in the multiplier, so Newton's steps from zero come to the root from below.
    private double Multiplier(IReadOnlyList<StageDemand> stages, double total)
    {
        double multiplier = 0;
        for (var i = 0; i < MaxIterations; i++)
        {
            var step = (Used(stages, At(stages, total, multiplier)) - Processors) / -Slope(stages, total, multiplier);
            multiplier += Math.Max(0, step);
            if (step <= Accuracy * multiplier)
                break;
        }

        return multiplier;
    }

    // Derivative of the use of processors by the multiplier.
    private double Slope(IReadOnlyList<StageDemand> stages, double total, double multiplier) =>
        stages.Sum(stage => stage.Arrivals == 0
            ? 0 : stage.ProcessorShare * stage.ProcessorShare * Math.Sqrt(stage.BusyThreads / total) * Math.Pow(Penalty + (multiplier * stage.ProcessorShare), -1.5) / -2);

    private static double Used(IReadOnlyList<StageDemand> stages, double[] threads) =>
        threads.Select((count, i) => count == 0 ? 0 : count * stages[i].ProcessorShare).Sum();

    private static (double Arrivals, double Processors) Totals(IReadOnlyList<StageDemand> stages)
    {
        foreach (var stage in stages)
            stage.Validate();
        return (stages.Sum(static stage => stage.Arrivals), stages.Sum(static stage => stage.Processors));
    }
}
