namespace Heartbeat.Heatmap;

/// <summary>The order of the cells of a heat map: every other pass backwards, so that a drift of the machine hits all alike.</summary>
public static class HeatPlan
{
    /// <summary>Every cell in every pass.</summary>
    public static IReadOnlyList<(int Workers, int Senders)> Build(IReadOnlyList<int> workers, IReadOnlyList<int> senders, int passes)
    {
        var all = (from worker in workers from sender in senders select (worker, sender)).ToList();
        var plan = new List<(int, int)>();
        for (int pass = 0; pass < passes; pass++)
        {
            plan.AddRange(all);
            all.Reverse();
        }
        return plan;
    }
}
