using System.Reflection;
using ActOp.Groups;
using ActOp.Runtime.Groups;
using ActOp.Staging;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Hosting;
using Orleans.Runtime;

namespace ActOp.Configuration;

/// <summary>
/// Groups of grains that share a budget on this silo, so that none of them can take the time of the others. Without a group and without
/// <see cref="Select"/> there are none, and the silo runs turns in the order in which they become ready.
/// </summary>
public sealed class GroupsOptions
{
    /// <summary>The name of the group of all grains that are in no other. It exists always; configure it as any other.</summary>
    public const string DefaultGroup = "default";

    private const int MostGroups = 100_000;
    private const int DeepestNesting = 8;

    /// <summary>How the time of the threads that run turns is divided. Default: by weights.</summary>
    public BudgetMode Mode { get; set; } = BudgetMode.Shares;

    /// <summary>
    /// For how long a thread runs turns of one group before another one may go on. A turn is not interrupted. Default 200 us: choosing a
    /// group costs less than a hundredth of it, and a group that comes waits for about that long on a busy thread. 20 us to 100 ms.
    /// </summary>
    public TimeSpan Quantum { get; set; } = TimeSpan.FromMicroseconds(200);

    /// <summary>
    /// The interval for which <see cref="GroupOptions.Ticks"/> are given. Only for <see cref="BudgetMode.Ticks"/>. Default 1,000 ms, as in
    /// the paper. 10 ms to 1 min.
    /// </summary>
    public TimeSpan Interval { get; set; } = TimeSpan.FromMilliseconds(1_000);

    /// <summary>The groups by name.</summary>
    public IDictionary<string, GroupOptions> Groups { get; } = new Dictionary<string, GroupOptions>(StringComparer.Ordinal);

    /// <summary>
    /// Names the group of a grain when the grain is activated; null for the one of its class (<see cref="GroupAttribute"/>). Called once
    /// for each activation, on its first turn, so it should compute and not wait. If it throws or names no group of this silo, the grain
    /// is in the group of its class; that is counted, and logged once for each class.
    /// </summary>
    public GroupSelector? Select { get; set; }

    /// <summary>
    /// What a request costs, for those whose method does not say (<see cref="CostAttribute"/>); null or 0 if that is not known. Only for
    /// <see cref="BudgetMode.Ticks"/>. Called on a turn each time that a request may start, so it should compute and not wait. If it throws
    /// or gives less than 0, the request counts as without cost; that is logged once for each class.
    /// </summary>
    public RequestCost? Cost { get; set; }

    /// <summary>
    /// The most groups with metrics of their own (<c>actop.groups.*</c>). The metrics of the others are added up under the name
    /// <c>(others)</c>. Default 100. Which groups: the first by the order of their names.
    /// </summary>
    public int MaxSeries { get; set; } = 100;

    /// <summary>Adds a group, or changes one that was added.</summary>
    /// <param name="name">Its name, the same on all silos.</param>
    /// <param name="configure">Changes its options, or null.</param>
    /// <returns>These options.</returns>
    public GroupsOptions Add(string name, Action<GroupOptions>? configure = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        if (!Groups.TryGetValue(name, out var group))
            Groups.Add(name, group = new GroupOptions());
        configure?.Invoke(group);
        return this;
    }

    /// <summary>There are groups.</summary>
    internal bool AreUsed => Groups.Count > 0 || Select is not null;

    /// <exception cref="OrleansConfigurationException">An option has a wrong value, or the groups do not fit together.</exception>
    internal void Validate(StageOptions stages, int processors)
    {
        Check(stages.Mode == StageMode.OwnThreads, "StageOptions.Mode must be OwnThreads, because groups share the threads of a stage");
        Check(Mode is BudgetMode.Shares or BudgetMode.Ticks, "GroupsOptions.Mode must be Shares or Ticks");
        Check(Cost is null || Mode == BudgetMode.Ticks,
            "GroupsOptions.Cost has an effect only with Mode = BudgetMode.Ticks; set it, or remove the Cost");
        Check(Quantum >= TimeSpan.FromMicroseconds(20) && Quantum <= TimeSpan.FromMilliseconds(100),
            "GroupsOptions.Quantum must be 20 us to 100 ms, but is " + Quantum);
        Check(Interval >= TimeSpan.FromMilliseconds(10) && Interval <= TimeSpan.FromMinutes(1),
            "GroupsOptions.Interval must be 10 ms to 1 min, but is " + Interval);
        Check(MaxSeries >= 1, "GroupsOptions.MaxSeries must be 1 or more, but is " + MaxSeries);
        Check(Groups.Count <= MostGroups, "There must be " + MostGroups + " groups at most, but there are " + Groups.Count);
        foreach (var (name, group) in Groups)
        {
            Check(!name.StartsWith('('),
                "Names that begin with a parenthesis, as \"" + name + "\", are the runtime's own; use another one");
            group.Validate(name, Mode);
            CheckParents(name);
        }

        CheckTicks(Groups, processors);
        CheckGuarantees(Groups);
    }

    /// <summary>Checks a change of a group while the silo runs.</summary>
    /// <exception cref="OrleansConfigurationException">An option has a wrong value, or the groups do not fit together.</exception>
    internal void Check(string name, GroupOptions changed, IEnumerable<KeyValuePair<string, GroupOptions>> others, int processors)
    {
        changed.Validate(name, Mode);
        KeyValuePair<string, GroupOptions>[] all = [.. others, KeyValuePair.Create(name, changed)];
        CheckTicks(all, processors);
        CheckGuarantees(all);
    }

    private static void CheckGuarantees(IEnumerable<KeyValuePair<string, GroupOptions>> groups)
    {
        foreach (var siblings in groups.GroupBy(static one => one.Value.Parent))
        {
            var sum = siblings.Sum(static one => one.Value.Min ?? 0);
            var who = siblings.Key is null ? "All groups" : "The groups below \"" + siblings.Key + "\"";
            Check(sum <= GroupWeights.MostGuaranteed + 1e-9, who + " have " + Math.Round(sum, 4)
                + " guaranteed by Min together, and " + GroupWeights.MostGuaranteed + " is the most: guarantee less");
        }
    }

    private void CheckTicks(ICollection<KeyValuePair<string, GroupOptions>> groups, int processors)
    {
        var byParent = groups.ToLookup(static one => one.Value.Parent);
        CheckTicks(byParent, null, Interval.TotalMilliseconds * processors);
        foreach (var (name, group) in groups)
            CheckTicks(byParent, name, group.Ticks ?? double.MaxValue);
    }

    private void CheckParents(string name)
    {
        var depth = 0;
        for (var parent = Groups[name].Parent; parent is not null; parent = Groups[parent].Parent)
        {
            Check(Groups.ContainsKey(parent), "The group \"" + name + "\" is below the group \"" + parent
                + "\", which does not exist: add it, or remove the Parent");
            Check(parent != name, "The group \"" + name + "\" is below itself: remove one Parent of the circle");
            Check(++depth <= DeepestNesting, "The group \"" + name + "\" has more than " + DeepestNesting
                + " groups above it, or is below a circle of groups: remove a Parent");
        }
    }

    private static void CheckTicks(ILookup<string?, KeyValuePair<string, GroupOptions>> byParent, string? parent, double available)
    {
        var sum = byParent[parent].Sum(static one => one.Value.Ticks ?? 0);
        Check(sum <= available, (parent is null ? "All groups" : "The groups below \"" + parent + "\"") + " have " + sum
            + " ticks per interval together, and there are " + available + ": give them less");
    }

    internal static void Check(bool isRight, string text)
    {
        if (!isRight)
            throw new OrleansConfigurationException(text + ".");
    }
}

/// <summary>The budget of one group on a silo.</summary>
public sealed class GroupOptions
{
    /// <summary>The largest weight.</summary>
    internal const double MostWeight = 10_000;

    /// <summary>
    /// The share of the group in proportion to those of the other groups with the same parent that have something to run. Time that a group
    /// does not use goes to the others. Above 0 to 10,000. Default 100.
    /// </summary>
    public double Weight { get; set; } = Staging.Groups.GroupSetting.DefaultWeight;

    /// <summary>
    /// The least that the group gets whenever it has something to run, whatever the others do: a share of the time of the threads that run
    /// turns, or of what its <see cref="Parent"/> gets, above 0. The groups with the same parent have 0.95 together at most, so that the
    /// rest is not starved. More than its <see cref="Weight"/> gives; what it does not use goes to the others. Null (default): none.
    /// </summary>
    public double? Min { get; set; }

    /// <summary>
    /// The most that the group gets, as a share of the time of all processors of the silo, although nobody else needs it: above 0 to 1.
    /// Averaged over 100 ms; a turn that exceeds it is paid later. Null (default): no limit.
    /// </summary>
    public double? Max { get; set; }

    /// <summary>
    /// Milliseconds of one processor that the group gets in each <see cref="GroupsOptions.Interval"/>. Only for
    /// <see cref="BudgetMode.Ticks"/>. Null (default): no limit.
    /// </summary>
    public double? Ticks { get; set; }

    /// <summary>
    /// Activations of the group on this silo. The start of one more fails with a <see cref="GroupOverloadedException"/>; an activation that
    /// comes from another silo with its state is let in. Null (default): no limit.
    /// </summary>
    public int? MaxActivations { get; set; }

    /// <summary>
    /// Requests that wait in the mailboxes of the group on this silo. One more is refused with a <see cref="GroupOverloadedException"/>.
    /// Null (default): no limit but that of each mailbox.
    /// </summary>
    public int? MaxQueued { get; set; }

    /// <summary>
    /// Requests per second to grains of the group on this silo, and as many at once after a pause. One more is refused with a
    /// <see cref="GroupOverloadedException"/>. Null (default): no limit.
    /// </summary>
    public double? MaxCallsPerSecond { get; set; }

    /// <summary>The group in whose share this one is. Null (default): none.</summary>
    public string? Parent { get; set; }

    internal void Validate(string name, BudgetMode mode)
    {
        var group = "GroupOptions of \"" + name + "\": ";
        GroupsOptions.Check(Weight is > 0 and <= MostWeight, group + "Weight must be above 0 to " + MostWeight + ", but is " + Weight);
        GroupsOptions.Check(Min is null or (> 0 and <= GroupWeights.MostGuaranteed),
            group + "Min must be above 0 to " + GroupWeights.MostGuaranteed + ", or null for no guarantee, but is " + Min);
        GroupsOptions.Check(Max is null || Min is null || Parent is not null || Min <= Max,
            group + "Min must not be above Max, but they are " + Min + " and " + Max);
        GroupsOptions.Check(Max is null or (> 0 and <= 1), group + "Max must be above 0 to 1, or null for no limit, but is " + Max);
        GroupsOptions.Check(Ticks is null || mode == BudgetMode.Ticks,
            group + "Ticks have an effect only with GroupsOptions.Mode = BudgetMode.Ticks; set it, or remove the Ticks");
        GroupsOptions.Check(Ticks is null or >= 1, group + "Ticks must be 1 or more, or null for no limit, but is " + Ticks);
        GroupsOptions.Check(MaxActivations is null or >= 1, group + "MaxActivations must be 1 or more, but is " + MaxActivations);
        GroupsOptions.Check(MaxQueued is null or >= 1, group + "MaxQueued must be 1 or more, but is " + MaxQueued);
        GroupsOptions.Check(MaxCallsPerSecond is null or (>= 0.001 and <= 1e9),
            group + "MaxCallsPerSecond must be 0.001 to 1,000,000,000, but is " + MaxCallsPerSecond);
    }
}

/// <summary>How the time of the threads that run turns is divided among groups.</summary>
public enum BudgetMode
{
    /// <summary>By weights, among the groups that have something to run. No time is lost while anything waits.</summary>
    Shares,

    /// <summary>
    /// As in the paper on actor groups: a group gets a number of ticks of 1 ms per interval and is inactive when it has used them, until
    /// the next interval. What it has used too much is paid later, and intervals are shorter meanwhile. A request whose cost is known
    /// (<see cref="CostAttribute"/>) starts only if that fits into what is left, or if nothing else could run. Among the active groups: by
    /// weights.
    /// </summary>
    Ticks,
}

/// <summary>Names the group of a grain; null for the group of its class.</summary>
/// <param name="grain">The grain.</param>
/// <param name="requestContext">The request context of the call that activates it; null without one.</param>
/// <returns>The name of a group of this silo, or null.</returns>
public delegate string? GroupSelector(GrainId grain, IReadOnlyDictionary<string, object>? requestContext);

/// <summary>Says what a request costs: how long it computes on one processor; null if that is not known.</summary>
/// <param name="grain">The grain.</param>
/// <param name="method">The method of its interface.</param>
/// <param name="requestContext">The request context of the call; null without one.</param>
/// <returns>The time, 0 or more, or null.</returns>
public delegate TimeSpan? RequestCost(GrainId grain, MethodInfo method, IReadOnlyDictionary<string, object>? requestContext);

/// <summary>Adds groups to a silo.</summary>
public static class GroupsSiloBuilderExtensions
{
    /// <summary>Divides the time of the silo among groups of grains (docs/groups.md).</summary>
    public static ISiloBuilder AddGroups(this ISiloBuilder builder, Action<GroupsOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(configure);
        builder.Services.Configure(configure);
        return builder;
    }
}
