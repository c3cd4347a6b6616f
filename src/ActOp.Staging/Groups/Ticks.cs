namespace ActOp.Staging.Groups;

/// <summary>The time that a group may use in each interval, and what is left of it. In microseconds. Not thread-safe.</summary>
/// <param name="group">The group.</param>
/// <param name="allocation">What it gets per interval, above 0: the ticks of the paper.</param>
internal sealed class TickBudget(StageGroup group, double allocation)
{
    internal StageGroup Group { get; } = group;

    internal double Allocation { get; private set; } = allocation;

    /// <summary>What is left in this interval; negative: debt, which the next intervals pay.</summary>
    internal double Balance { get; set; } = allocation;

    /// <summary>What items that have begun are known to cost, until their slices are charged.</summary>
    private double _reserved;
    private bool _hasReserved;

    /// <summary>What is left for items whose cost is known.</summary>
    internal double Free => Balance - _reserved;

    /// <summary>The paper: a group is inactive when its ticks are consumed.</summary>
    internal bool IsActive => Balance > 0;

    /// <summary>
    /// The paper, section 3.2: an item begins if its cost fits into what is left. The first one of an interval fits always: otherwise one
    /// that costs more than the allocation would never run.
    /// </summary>
    internal bool Fits(double cost) => IsActive && (!_hasReserved || cost <= Free);

    /// <summary>An item with this cost begins.</summary>
    internal void Reserve(double cost)
    {
        _reserved += cost;
        _hasReserved = true;
    }

    /// <summary>The slice in which items with this cost have begun is charged.</summary>
    internal void EndReserved(double cost) => _reserved = Math.Max(0, _reserved - cost);

    /// <summary>An interval begins.</summary>
    internal void Begin()
    {
        Balance = Math.Min(Allocation, Balance + Allocation);
        _hasReserved = false;
    }

    /// <summary>The paper: a new allocation overrides the old one at once. What was used in this interval stays used.</summary>
    internal void Change(double allocation)
    {
        Balance += allocation - Allocation;
        Allocation = allocation;
    }
}

/// <summary>
/// The observer of the paper (section 3.2): is told what turns have consumed, and deducts it from the allocation of the group.
/// </summary>
internal static class TickObserver
{
    /// <summary>Deducts what a slice has used. False if the group is inactive from now on.</summary>
    internal static bool Observe(TickBudget budget, double used)
    {
        budget.Balance -= used;
        return budget.IsActive;
    }
}

/// <summary>
/// The gatekeeper of the paper (section 3.2): knows the intervals, and which groups are active in the present one. Source: "Approaching
/// Actor-Level Resource Control for Akka", section 3, with post-measured execution time, and with costs that are known before for the
/// items that have one (<see cref="TickBudget.Fits"/>). Not thread-safe; times are in microseconds.
/// </summary>
/// <remarks>
/// <para>At the start of an interval each group gets its allocation. What it has not used before expires; what it has used too much is
/// deducted: with a debt of several allocations it is inactive for as many intervals.</para>
/// <para>A group that overran has used time of the interval after. So that interval is shorter by what its allocation pays of the debt
/// (<see cref="Downsizing"/>), divided by the processors, and not shorter than one tick: nobody could use that time otherwise.</para>
/// </remarks>
/// <param name="interval">The length of an interval.</param>
/// <param name="processors">Processors whose time is allocated.</param>
/// <param name="downsizes">Whether intervals are shortened.</param>
internal sealed class Gatekeeper(double interval, int processors, bool downsizes)
{
    /// <summary>One tick of the paper, and the shortest interval.</summary>
    internal const double Tick = 1_000;

    private readonly List<TickBudget> _budgets = [];

    /// <summary>By how much the present interval is shorter than a full one.</summary>
    private double _cut;

    /// <summary>A full interval before the end of the present one.</summary>
    private double _base;

    /// <summary>When the present interval ends.</summary>
    internal double Ends => _base + interval;

    /// <summary>By what share the present interval is shorter than a full one, 0 to 1 (figure 14 of the paper).</summary>
    internal double Downsizing => _cut / interval;

    internal void Add(TickBudget budget) => _budgets.Add(budget);

    internal bool Has(TickBudget budget) => _budgets.Contains(budget);

    internal void Remove(TickBudget budget) => _budgets.Remove(budget);

    /// <summary>Begins the interval that contains <paramref name="now"/>. Calls <paramref name="changed"/> for each group that is active
    /// then.</summary>
    internal bool Advance(double now, Action<TickBudget> changed)
    {
        if (now < Ends)
            return false;
        var owes = true;
        while (owes && now >= Ends)
            owes = Begin(Ends);

        // Nobody owes anything: the intervals until now were alike.
        if (now >= Ends)
            _base += interval * Math.Floor(((now - Ends) / interval) + 1);
        foreach (var budget in _budgets)
        {
            if (budget.IsActive)
                changed(budget);
        }

        return true;
    }

    /// <summary>Begins one interval. False if no group owes anything.</summary>
    private bool Begin(double start)
    {
        double paid = 0;
        foreach (var budget in _budgets)
        {
            if (budget.Balance < 0)
                paid += Math.Min(budget.Allocation, -budget.Balance);
            budget.Begin();
        }

        _cut = downsizes ? Math.Min(interval - Tick, paid / processors) : 0;
        _base = start - _cut;
        return paid > 0;
    }
}
