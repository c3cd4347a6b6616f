using ActOp.Lab.Groups;

namespace ActOp.Lab.Tests.Groups;

/// <summary>Figure 14 of the paper on actor groups: 100 groups of 10 ticks, of which ten use more than that in each turn.</summary>
public sealed class TickStudyTests
{
    [Theory]
    [InlineData(10)]
    [InlineData(50)]
    [InlineData(100)]
    [InlineData(150)]
    public void Groups_that_overrun_by_a_Poisson_time_get_their_allocation_and_the_intervals_settle(int meanOverrun)
    {
        var report = TickStudy.Play(meanOverrun, 1_000);
        // What ten groups get of an interval is a tenth; no interval loses more than that.
        Assert.Equal(1_000, report.Downsizing.Count);
        Assert.All(report.Downsizing, static one => Assert.InRange(one, 0, 0.1 + 1e-9));
        Assert.InRange(report.Share, 0.9, 1.15);
        // The others have lost nothing: as much per time as they were given, and a little more, because intervals are shorter.
        Assert.InRange(report.OtherShare, 0.99, 1.15);
    }
}
