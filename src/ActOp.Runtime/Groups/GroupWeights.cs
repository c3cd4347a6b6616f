using ActOp.Configuration;

namespace ActOp.Runtime.Groups;

/// <summary>The weights with which groups compete: those of the options, larger where a group has a guarantee. Holds nothing.</summary>
internal static class GroupWeights
{
    /// <summary>The most that groups with the same parent may have guaranteed together.</summary>
    internal const double MostGuaranteed = 0.95;

    /// <summary>
    /// If all compete, each group has the share of its weight, and one whose share would be below its <see cref="GroupOptions.Min"/> has
    /// that. If fewer compete, shares only grow. So no clock is needed to keep a guarantee.
    /// </summary>
    /// <param name="siblings">The groups with the same parent.</param>
    /// <param name="others">The weight of what competes with them and is no group: a parent's own grains.</param>
    /// <returns>The weights, in the order of the groups.</returns>
    internal static double[] Compute(IReadOnlyList<GroupOptions> siblings, double others)
    {
        var isRaised = new bool[siblings.Count];
        var (weights, rest) = (others + siblings.Sum(static one => one.Weight), 1.0);
        // Who is raised takes time from the others, of whom some more may then need it.
        for (var found = true; found;)
        {
            found = false;
            for (var i = 0; i < isRaised.Length; i++)
            {
                if (isRaised[i] || siblings[i].Min is not { } least || siblings[i].Weight / weights * rest >= least)
                    continue;
                isRaised[i] = found = true;
                weights -= siblings[i].Weight;
                rest -= least;
            }
        }

        return [.. siblings.Select((one, i) => isRaised[i] ? one.Min!.Value * weights / rest : one.Weight)];
    }
}
