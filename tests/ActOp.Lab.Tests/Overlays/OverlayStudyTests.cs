using ActOp.Lab.Overlays;

namespace ActOp.Lab.Tests.Overlays;

/// <summary>HyParView and Plumtree together, in virtual time.</summary>
public sealed class OverlayStudyTests
{
    [Theory]
    [InlineData(20, 0.2, 1)]
    [InlineData(100, 0.3, 2)]
    [InlineData(300, 0.3, 3)]
    [InlineData(300, 0.5, 4)]
    [InlineData(1_000, 0.3, 5)]
    public void Every_broadcast_reaches_every_live_node_along_a_tree_before_and_after_a_crash_of_many(int nodes, double crashed, int seed)
    {
        var report = OverlayStudy.Play(nodes, crashed, seed);
        Assert.Equal(1, report.ReachedAtRest);
        Assert.InRange(report.PayloadsPerNode, 0.9, 1.1);
        Assert.InRange(report.LeastDegree, 1, 5);
        Assert.NotNull(report.Repair);
        Assert.Equal(1, report.Connected);
        Assert.Equal(1, report.ReachedAfter);
        Assert.InRange(report.PayloadsAfter, 0.9, 1.1);
        Assert.Equal(0, report.Asymmetric);
    }

    [Fact]
    public void A_seed_has_the_same_history_twice() =>
        Assert.Equal(OverlayStudy.Play(100, 0.3, 11), OverlayStudy.Play(100, 0.3, 11));
}
