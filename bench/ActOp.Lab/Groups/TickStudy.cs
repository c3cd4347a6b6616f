using ActOp.Staging.Groups;

namespace ActOp.Lab.Groups;

/// <summary>What came of groups that overrun.</summary>
/// <param name="MeanOverrun">What each of them uses too much in each turn on average, in ms.</param>
/// <param name="Downsizing">By what share each interval was shorter than a full one.</param>
/// <param name="Share">What they got per time, as a multiple of their allocation.</param>
/// <param name="OtherShare">The same of the others.</param>
internal sealed record TickReport(int MeanOverrun, IReadOnlyList<double> Downsizing, double Share, double OtherShare)
{
    /// <summary>The mean of the second half, when it has settled.</summary>
    public double Settled => Downsizing.Skip(Downsizing.Count / 2).Average();

    /// <summary>The first interval after the first overrun.</summary>
    public double First => Downsizing[0];
}

/// <summary>
/// 100 groups of 10 ticks of 1 ms in an interval of 1,000 ms, of which ten use more than that in each turn, by a Poisson time (paper on actor
/// groups, section 4.4, Figure 14). Played in virtual time by the code of silos.
/// </summary>
internal static class TickStudy
{
    /// <summary>Groups, and how many of them overrun.</summary>
    internal const int Groups = 100;

    internal const int Overrunning = 10;
    private const double Interval = 1_000_000;
    private const double Allocation = 10_000;

    internal static TickReport Play(int meanOverrun, int intervals)
    {
        Random random = new(meanOverrun);
        Gatekeeper gatekeeper = new(Interval, processors: 1, downsizes: true);
        TickBudget[] budgets = [.. Enumerable.Range(0, Groups).Select(static index =>
            new TickBudget(new StageGroup(new GroupShape("g" + index, 100), null), Allocation))];
        Array.ForEach(budgets, gatekeeper.Add);
        var used = new double[Groups];
        List<double> downsizing = [];
        for (var interval = 0; interval < intervals; interval++)
        {
            for (var index = 0; index < Groups; index++)
            {
                if (!budgets[index].IsActive)
                    continue;
                var turn = Allocation + (index < Overrunning ? Gatekeeper.Tick * Poisson(random, meanOverrun) : 0);
                used[index] += turn;
                TickObserver.Observe(budgets[index], turn);
            }

            gatekeeper.Advance(gatekeeper.Ends, static _ => { });
            downsizing.Add(gatekeeper.Downsizing);
        }

        var allocated = (gatekeeper.Ends - Interval) / Interval * Allocation;
        return new(
            meanOverrun, downsizing, used.Take(Overrunning).Average() / allocated, used.Skip(Overrunning).Average() / allocated);
    }

    private static int Poisson(Random random, double mean)
    {
        // Knuth, The Art of Computer Programming, volume 2, 3.4.1.
        var (limit, count, product) = (Math.Exp(-mean), -1, 1.0);
        do
        {
            count++;
            product *= random.NextDouble();
        }
        while (product > limit);

        return count;
    }
}
