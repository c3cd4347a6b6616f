using ActOp.Runtime.Stages;

namespace ActOp.Hosting.Tests.Stages;

public class ForeignCpuShareTests
{
    [Theory]
    [InlineData(2, 0.5, 1, 0.5)] // Half of what is used is ours.
    [InlineData(2, 2, 2, 0)] // We use all that is used.
    [InlineData(1, 1, 8, 0)] // The machine has more, but we may use no more.
    [InlineData(4, 1, 4, 0.75)]
    public void The_share_of_others_is_what_we_do_not_use_ourselves(double processors, double ours, double all, double expected)
    {
        double own = 10;
        double? machine = 100;
        var foreign = new ForeignCpuShare(processors, () => own, () => machine);
        own += ours;
        machine += all;
        var (share, used) = foreign.TakeShare(1);
        Assert.Equal(expected, share, 9);
        Assert.Equal(expected * all, used, 9);
        own += ours;
        machine = null;
        Assert.Equal((0, 0), foreign.TakeShare(1));
        Assert.Equal((0, 0), foreign.TakeShare(1));
    }

    [Fact]
    public void What_the_machine_has_used_is_read_from_its_statistics()
    {
        Assert.Equal(3.0, ForeignCpuShare.ParseBusy("cpu  100 20 80 5000 7 40 60 0 0 0"));
        Assert.Null(ForeignCpuShare.ParseBusy(""));
        Assert.Null(ForeignCpuShare.ParseBusy("cpu 1 2 x 4 5 6 7 8"));
        Assert.Null(ForeignCpuShare.ParseBusy("intr 1 2 3 4 5 6 7 8"));
        Assert.InRange(ForeignCpuShare.OfThisProcess(Environment.ProcessorCount).TakeShare(1).Share, 0, 1);
    }
}
