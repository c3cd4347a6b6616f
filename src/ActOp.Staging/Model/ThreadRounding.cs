namespace ActOp.Staging.Model;

/// <summary>
/// From the optimum over real numbers to whole threads: of the two neighbours of each stage's optimum, those that keep every stage stable
/// and the processors' limit and have the least value of (*). 2^K combinations, for K stages up to <see cref="MaxStages"/>. Pure.
/// </summary>
/// <remarks>
/// On few processors no combination may keep the limit: every stage needs a thread, however little it has to do. Then the processors are
/// not forbidden but paid for, at the price that they have in the real optimum: the least (*) + theta sum beta_i t_i wins.
/// </remarks>
/// <param name="model">The objective and its limit.</param>
/// <param name="minimum">The fewest threads of a stage, at least 1.</param>
/// <param name="maximum">The most threads of a stage.</param>
public sealed class ThreadRounding(ThreadModel model, int minimum, int maximum)
{
    /// <summary>The most stages: a million combinations.</summary>
    public const int MaxStages = 20;

    private readonly int _minimum = minimum >= 1 ? minimum : throw new ArgumentOutOfRangeException(nameof(minimum), minimum, "A stage has at least one thread.");
    private readonly int _maximum = maximum >= minimum ? maximum : throw new ArgumentOutOfRangeException(nameof(maximum), maximum, "The most threads are not fewer than the fewest.");

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
            return Judge(stages, [.. shares.Threads.Select(share => (int)Math.Round(Math.Clamp(share, _minimum, _maximum)))]);
        return Judge(stages, Best(stages, [.. stages.Select((stage, i) => Fewest(stage, shares.Threads[i]))], shares.Multiplier));
    }

    /// <summary>
    /// What a choice of whole threads is worth, the price of processors included; smaller is better. Infinite when a stage is not stable.
    /// </summary>
    internal double Value(IReadOnlyList<StageDemand> stages, IReadOnlyList<int> threads, double multiplier) =>
        model.Objective(stages, [.. threads.Select(static count => (double)count)]) + (multiplier * Used(stages, threads));

    private int Fewest(StageDemand stage, double share)
    {
        // One more than are busy is the fewest that is stable.
        var stable = stage.Arrivals == 0 ? 0 : Math.Floor(stage.BusyThreads) + 1;
        return (int)Math.Clamp(Math.Max(Math.Floor(share), stable), _minimum, _maximum);
    }

    private int[] Best(IReadOnlyList<StageDemand> stages, int[] fewest, double multiplier)
    {
        var best = fewest;
        // Raising any count uses more processors: if the fewest do not keep the limit, nothing does.
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

        return best;
    }

    private ThreadCounts Judge(IReadOnlyList<StageDemand> stages, int[] threads) =>
        new(threads, stages.Where((stage, i) => stage.Arrivals > 0 && threads[i] <= stage.BusyThreads).Any(), Used(stages, threads) > model.Processors);

    private static double Used(IReadOnlyList<StageDemand> stages, IReadOnlyList<int> threads) =>
        threads.Select((count, i) => stages[i].Arrivals == 0 ? 0 : count * stages[i].ProcessorShare).Sum();
}
