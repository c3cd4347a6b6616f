namespace ActOp.Staging.Model;

/// <summary>
/// The load of one stage (paper section 5.2, Table 1): the rate of its events and the time of one. Times are means, in seconds.
/// </summary>
/// <param name="Arrivals">Events per second, lambda; not negative.</param>
/// <param name="Compute">Processor time of an event, x; above zero if there are arrivals.</param>
/// <param name="Blocked">Time an event waits in synchronous calls, w; not negative.</param>
public readonly record struct StageDemand(double Arrivals, double Compute, double Blocked = 0)
{
    /// <summary>Events per second that one thread serves with a processor of its own, s = 1/(x + w).</summary>
    public double ServiceRate => 1 / (Compute + Blocked);

    /// <summary>The share of a processor that a busy thread takes, beta = x/(x + w).</summary>
    public double ProcessorShare => Compute / (Compute + Blocked);

    /// <summary>Threads that are busy on average, lambda/s: with only so many threads the queue grows without limit.</summary>
    public double BusyThreads => Arrivals * (Compute + Blocked);

    /// <summary>Processors that are busy on average, lambda beta/s = lambda x.</summary>
    public double Processors => Arrivals * Compute;

    internal void Validate()
    {
        if (!(double.IsFinite(Arrivals) && Arrivals >= 0))
            throw new ArgumentOutOfRangeException(nameof(Arrivals), Arrivals, "The arrivals of a stage are finite and not negative.");
        if (!(double.IsFinite(Compute) && Compute >= 0) || (Arrivals > 0 && Compute == 0))
            throw new ArgumentOutOfRangeException(nameof(Compute), Compute, "The processor time of an event is finite and above zero.");
        if (!(double.IsFinite(Blocked) && Blocked >= 0))
            throw new ArgumentOutOfRangeException(nameof(Blocked), Blocked, "The blocked time of an event is finite and not negative.");
    }
}

/// <summary>An allocation of whole threads.</summary>
/// <param name="Threads">For each stage, in the order given.</param>
/// <param name="IsOverloaded">The queue of a stage grows, because all its threads are busy.</param>
/// <param name="ExceedsProcessors">If all threads were busy, they would need more processors than there are; even the smallest stable
/// allocation would.</param>
public sealed record ThreadCounts(IReadOnlyList<int> Threads, bool IsOverloaded, bool ExceedsProcessors);

/// <summary>An optimum over real numbers of threads.</summary>
/// <param name="Threads">For each stage.</param>
/// <param name="Multiplier">The price of a processor, theta, in seconds: 0 when there are enough.</param>
/// <param name="IsOverloaded">The stages need all processors or more: no allocation is stable.</param>
public sealed record ThreadShares(IReadOnlyList<double> Threads, double Multiplier, bool IsOverloaded);

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
        ? processors : throw new ArgumentOutOfRangeException(
            nameof(processors), processors, "The number of processors is finite and above zero.");

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
    /// Newton's method. Stages that together need all processors or more get them in proportion to their demand; that is not stable and
    /// marked as overload.
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
            ? 0
            : stage.ProcessorShare * stage.ProcessorShare * Math.Sqrt(stage.BusyThreads / total)
                * Math.Pow(Penalty + (multiplier * stage.ProcessorShare), -1.5) / -2);

    private static double Used(IReadOnlyList<StageDemand> stages, double[] threads) =>
        threads.Select((count, i) => count == 0 ? 0 : count * stages[i].ProcessorShare).Sum();

    private static (double Arrivals, double Processors) Totals(IReadOnlyList<StageDemand> stages)
    {
        foreach (var stage in stages)
            stage.Validate();
        return (stages.Sum(static stage => stage.Arrivals), stages.Sum(static stage => stage.Processors));
    }
}

/// <summary>
/// From the optimum over real numbers to whole threads: rounds the optimum of each stage up or down, such that every stage is stable, the
/// processors' limit holds and (*) is least. Tries 2^K combinations, for K stages up to <see cref="MaxStages"/>, and then moves
/// threads between stages while (*) falls. Pure.
/// </summary>
/// <remarks>
/// <para>Where the limit binds, the optimum of a stage may be so close to the threads that are busy that its neighbour is many times
/// slower, and the next number needs a thread that the neighbours of the other stages do not give.</para>
/// <para>On few processors no combination may satisfy the limit, because every stage needs a thread. Then the limit is replaced by a price,
/// the multiplier of the real optimum: the least (*) + theta sum beta_i t_i is chosen. Its stages do not depend on each other, so no other
/// whole numbers are better than the neighbours.</para>
/// </remarks>
/// <param name="model">The objective and its limit.</param>
/// <param name="minimum">The fewest threads of a stage, at least 1.</param>
/// <param name="maximum">The most threads of a stage.</param>
public sealed class ThreadRounding(ThreadModel model, int minimum, int maximum)
{
    /// <summary>The most stages: a million combinations.</summary>
    public const int MaxStages = 20;

    /// <summary>What is less is an error of rounding.</summary>
    private const double Noticeable = 1e-9;

    private readonly int _minimum = minimum >= 1
        ? minimum : throw new ArgumentOutOfRangeException(nameof(minimum), minimum, "A stage has at least one thread.");
    private readonly int _maximum = maximum >= minimum
        ? maximum
        : throw new ArgumentOutOfRangeException(nameof(maximum), maximum, "The maximum number of threads must not be below the minimum.");

    /// <summary>The objective and its limit.</summary>
    internal ThreadModel Model => model;

    /// <summary>Rounds.</summary>
    /// <param name="stages">The stages.</param>
    /// <param name="shares">Their optimum, from <see cref="ThreadModel.Solve"/>.</param>
    /// <returns>Threads between the minimum and the maximum.</returns>
    /// <exception cref="ArgumentOutOfRangeException">There are more than <see cref="MaxStages"/> stages.</exception>
    public ThreadCounts Round(IReadOnlyList<StageDemand> stages, ThreadShares shares)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(stages.Count, MaxStages, nameof(stages));
        if (shares.IsOverloaded)
            return WithLimits(stages, [.. shares.Threads.Select(share => (int)Math.Round(Math.Clamp(share, _minimum, _maximum)))]);
        return WithLimits(stages, Best(stages, [.. stages.Select((stage, i) => Fewest(stage, shares.Threads[i]))], shares.Multiplier));
    }

    /// <summary>
    /// The objective for whole threads, including the price of processors; smaller is better. Infinite when a stage is not stable.
    /// </summary>
    internal double Value(IReadOnlyList<StageDemand> stages, IReadOnlyList<int> threads, double multiplier) =>
        model.Objective(stages, [.. threads.Select(static count => (double)count)]) + (multiplier * Used(stages, threads));

    private int Fewest(StageDemand stage, double share)
    {
        // The smallest stable number is one more than are busy.
        var stable = stage.Arrivals == 0 ? 0 : Math.Floor(stage.BusyThreads) + 1;
        return (int)Math.Clamp(Math.Max(Math.Floor(share), stable), _minimum, _maximum);
    }

    private int[] Best(IReadOnlyList<StageDemand> stages, int[] fewest, double multiplier)
    {
        var best = fewest;
        // More threads use more processors: if the smallest numbers exceed the limit, all do.
        var isPriced = Used(stages, fewest) > model.Processors;
        var bestValue = Value(stages, fewest, isPriced ? multiplier : 0);
        for (var ups = 1; ups < 1 << fewest.Length; ups++)
        {
            int[] threads = [.. fewest.Select((count, i) => Math.Min(count + ((ups >> i) & 1), _maximum))];
            if (!isPriced && Used(stages, threads) > model.Processors)
                continue;
            var value = Value(stages, threads, isPriced ? multiplier : 0);
            if (value < bestValue)
                (best, bestValue) = (threads, value);
        }

        return isPriced ? best : Exchange(stages, best);
    }

    /// <summary>A thread more for one stage, and fewer for others until the limit holds, as long as that is better.</summary>
    private int[] Exchange(IReadOnlyList<StageDemand> stages, int[] threads)
    {
        while (true)
        {
            var best = threads;
            var bestValue = Value(stages, threads, 0);
            for (var more = 0; more < stages.Count; more++)
            {
                if (threads[more] >= _maximum || MakeRoom(stages, Changed(threads, more, 1), more) is not { } moved)
                    continue;
                var value = Value(stages, moved, 0);
                if (value < bestValue * (1 - Noticeable))
                    (best, bestValue) = (moved, value);
            }

            if (best == threads)
                return threads;
            threads = best;
        }
    }

    /// <summary>Takes threads where that costs least for the processors that it frees, until the limit holds; null if it cannot.</summary>
    private int[]? MakeRoom(IReadOnlyList<StageDemand> stages, int[] threads, int kept)
    {
        while (Used(stages, threads) > model.Processors)
        {
            var before = Value(stages, threads, 0);
            int[]? best = null;
            var bestCost = double.PositiveInfinity;
            for (var less = 0; less < stages.Count; less++)
            {
                if (less == kept || threads[less] <= _minimum || stages[less].Arrivals == 0)
                    continue;
                var taken = Changed(threads, less, -1);
                var cost = (Value(stages, taken, 0) - before) / stages[less].ProcessorShare;
                if (cost < bestCost)
                    (best, bestCost) = (taken, cost);
            }

            if (best is null)
                return null;
            threads = best;
        }

        return threads;
    }

    private static int[] Changed(int[] threads, int stage, int by) => [.. threads.Select((count, i) => i == stage ? count + by : count)];

    private ThreadCounts WithLimits(IReadOnlyList<StageDemand> stages, int[] threads) =>
        new(
            threads,
            stages.Where((stage, i) => stage.Arrivals > 0 && threads[i] <= stage.BusyThreads).Any(),
            Used(stages, threads) > model.Processors);

    private static double Used(IReadOnlyList<StageDemand> stages, IReadOnlyList<int> threads) =>
        threads.Select((count, i) => stages[i].Arrivals == 0 ? 0 : count * stages[i].ProcessorShare).Sum();
}
