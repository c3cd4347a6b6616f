using ActOp.Configuration;
using ActOp.Groups;
using Orleans;

namespace ActOp.Runtime.Groups;

/// <summary>A change of a group as silos tell it each other.</summary>
/// <param name="Group">The name of the group.</param>
/// <param name="Change">What changes.</param>
/// <param name="Stamp">When: of two changes of the same value the later one holds, whatever arrives first.</param>
[GenerateSerializer]
internal sealed record GroupSetting(
    [property: Id(0)] string Group, [property: Id(1)] GroupChange Change, [property: Id(2)] long Stamp)
{
    /// <summary>
    /// Those of which at least one value is the latest one, in the order of their stamps: never more than there are values.
    /// </summary>
    internal static List<GroupSetting> Latest(List<GroupSetting> settings)
    {
        List<GroupSetting> latest = [];
        GroupChange covered = new();
        // A change that has come twice has the same stamp.
        foreach (var setting in settings.OrderByDescending(static one => one.Stamp).DistinctBy(static one => one.Stamp))
        {
            var all = covered.Over(setting.Change);
            if (all == covered)
                continue;
            covered = all;
            latest.Insert(0, setting);
        }

        return latest;
    }
}

/// <summary>What a change does to the options of a group.</summary>
internal static class GroupChanges
{
    /// <summary>A copy of the options with the values that the change names; 0 removes a limit.</summary>
    internal static GroupOptions Apply(this GroupChange change, GroupOptions options) => new()
    {
        Weight = change.Weight ?? options.Weight,
        Min = Limit(change.Min, options.Min),
        Max = Limit(change.Max, options.Max),
        Ticks = Limit(change.Ticks, options.Ticks),
        MaxActivations = Limit(change.MaxActivations, options.MaxActivations),
        MaxQueued = Limit(change.MaxQueued, options.MaxQueued),
        MaxCallsPerSecond = Limit(change.MaxCallsPerSecond, options.MaxCallsPerSecond),
        Parent = options.Parent,
    };

    /// <summary>The values of this change, and of the other one where this has none.</summary>
    internal static GroupChange Over(this GroupChange change, GroupChange other) => new()
    {
        Weight = change.Weight ?? other.Weight,
        Min = change.Min ?? other.Min,
        Max = change.Max ?? other.Max,
        Ticks = change.Ticks ?? other.Ticks,
        MaxActivations = change.MaxActivations ?? other.MaxActivations,
        MaxQueued = change.MaxQueued ?? other.MaxQueued,
        MaxCallsPerSecond = change.MaxCallsPerSecond ?? other.MaxCallsPerSecond,
    };

    private static T? Limit<T>(T? change, T? now)
        where T : struct, IEquatable<T> =>
        change is not { } value ? now : value.Equals(default) ? null : value;
}
