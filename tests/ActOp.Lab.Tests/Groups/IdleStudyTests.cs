using ActOp.Lab.Groups;

namespace ActOp.Lab.Tests.Groups;

/// <summary>Figure 13 of the paper on actor groups: ten groups of 100 ticks, whose messages have costs that are known before.</summary>
public sealed class IdleStudyTests
{
    [Theory]
    [InlineData(10)]
    [InlineData(50)]
    [InlineData(90)]
    [InlineData(250)]
    public void Nothing_is_idle_while_messages_wait_and_all_groups_get_the_same(int messageTime)
    {
        var report = IdleStudy.Play(messageTime, lends: true, 1_000);
        Assert.Equal(0, report.Idle, 3);
        Assert.InRange(report.Least, 0.95, 1);
        Assert.InRange(report.Most, 1, 1.05);
    }

    [Theory]
    [InlineData(10)]
    [InlineData(50)]
    [InlineData(90)]
    public void To_the_letter_of_the_paper_what_does_not_fit_is_idle_time(int messageTime)
    {
        var report = IdleStudy.Play(messageTime, lends: false, 1_000);
        // A group loses up to the time of the message that comes next, which is half to one and a half of the mean.
        Assert.InRange(report.Idle, 0.01, 1.5 * messageTime / 100);
    }
}
