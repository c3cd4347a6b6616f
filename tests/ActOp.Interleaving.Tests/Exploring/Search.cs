namespace ActOp.Interleaving.Tests.Exploring;

/// <summary>Tries out schedules of a model until one is wrong or the budget is used up.</summary>
/// <param name="Strategy">What found it, or the last one.</param>
/// <param name="Schedules">Schedules run.</param>
/// <param name="Finding">What is wrong in the last one, or null.</param>
/// <param name="IsComplete">All schedules that the strategy has were run.</param>
public sealed record SearchResult(string Strategy, int Schedules, string? Finding, bool IsComplete)
{
    public override string ToString() => $"{Strategy}, {Schedules} schedules{(IsComplete ? " (all)" : "")}: {Finding ?? "nothing found"}";
}

/// <summary>The order of search: the schedules with one preemption, those with two, then depths and random walks.</summary>
public static class Search
{
    private const string DepthThree = "depth first, 3 preemptions";

    /// <summary>Runs up to <paramref name="budget"/> schedules with each strategy that has not more than two preemptions.</summary>
    public static IEnumerable<SearchResult> All(Func<Model> create, int budget) =>
        Strategies(budget).Where(static one => one.Name != DepthThree)
            .Select(one => Run(one.Name, create, one.Strategy, one.Budget));

    /// <summary>Runs up to <paramref name="budget"/> schedules with one strategy.</summary>
    public static SearchResult With(string name, Func<Model> create, int budget) =>
        Run(name, create, Strategies(budget).Single(one => one.Name == name).Strategy, budget);

    private static IEnumerable<(string Name, IStrategy Strategy, int Budget)> Strategies(int budget)
    {
        yield return ("depth first, 1 preemption", new DepthFirst(1), budget);
        yield return ("depth first, 2 preemptions", new DepthFirst(2), budget);
        yield return (DepthThree, new DepthFirst(3), budget);
        for (var depth = 1; depth <= 4; depth++)
            yield return ("priorities, depth " + depth, new Priorities(depth, depth), budget / 4);
        yield return ("random walk", new RandomWalk(1), budget / 2);
    }

    public static SearchResult Run(string name, Func<Model> create, IStrategy strategy, int budget)
    {
        SearchResult? result = null;
        Exception? defect = null;
        var thread = new System.Threading.Thread(() =>
        {
            Processor.Bind();
            try
            {
                result = Explore(name, create, strategy, budget);
            }
            catch (Exception exception)
            {
                defect = exception;
            }
        });
        thread.Start();
        thread.Join();
        return result ?? throw new InvalidOperationException("The search itself failed.", defect);
    }

    private static SearchResult Explore(string name, Func<Model> create, IStrategy strategy, int budget)
    {
        using var run = new Interleaver();
        for (var schedules = 0; schedules < budget; schedules++)
        {
            if (!strategy.BeginSchedule())
                return new(name, schedules, null, true);
            if (run.Run(create(), strategy) is { } finding)
                return new(name, schedules + 1, finding, false);
        }

        return new(name, budget, null, false);
    }
}
