using ActOp.Configuration;
using ActOp.Runtime.Groups;

namespace ActOp.Hosting.Tests.Groups;

/// <summary>Guarantees as weights, for random groups.</summary>
public sealed class GroupWeightsTests
{
    [Fact]
    public void Whoever_competes_a_group_has_its_guarantee_and_the_rest_is_divided_by_weight()
    {
        for (var seed = 0; seed < 2_000; seed++)
        {
            var random = new Random(seed);
            var groups = Enumerable.Range(0, 1 + random.Next(8)).Select(_ => new GroupOptions { Weight = 1 + random.Next(200) }).ToList();
            var others = random.Next(2) * 100;
            Guarantee(groups, random);
            var weights = GroupWeights.Compute(groups, others);
            for (var subset = 0; subset < 20; subset++)
            {
                var competing = groups.Select(_ => subset == 0 || random.Next(2) == 0).ToArray();
                var sum = others + weights.Where((_, i) => competing[i]).Sum();
                for (var i = 0; i < groups.Count; i++)
                {
                    if (competing[i])
                        Assert.True(weights[i] / sum >= (groups[i].Min ?? 0) - 1e-9, "seed " + seed + ": " + weights[i] / sum + " of " + groups[i].Min);
                }
            }

            for (var i = 0; i < groups.Count; i++)
            {
                // A weight is changed only for a guarantee that it would not keep, and then no more than it needs.
                if (weights[i] > groups[i].Weight + 1e-9)
                    Assert.Equal(groups[i].Min!.Value, weights[i] / (others + weights.Sum()), 1e-9);
                else
                    Assert.Equal(groups[i].Weight, weights[i], 1e-9);
            }
        }
    }

    /// <summary>Up to 0.95 together, to some of them.</summary>
    private static void Guarantee(List<GroupOptions> groups, Random random)
    {
        var left = GroupWeights.MostGuaranteed;
        foreach (var group in groups)
        {
            if (random.Next(2) == 0)
                continue;
            group.Min = Math.Max(1e-6, left * random.NextDouble());
            left -= group.Min.Value;
        }
    }
}
