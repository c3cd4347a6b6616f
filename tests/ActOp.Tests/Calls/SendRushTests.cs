using ActOp.Runtime.Routing;

namespace ActOp.Tests.Calls;

/// <summary>When threads without a pause leave their frames to the send stage. Timestamps are microseconds.</summary>
public sealed class SendRushTests
{
    private const long Frequency = 1_000_000;

    [Fact]
    public void Who_sends_now_and_then_writes_his_frames_himself()
    {
        var rush = new SendRush(Frequency);
        for (long now = 0; now < 100_000; now += 50)
        {
            Assert.False(rush.IsOn(now));
            rush.Wrote(now + 3);
        }
    }

    [Fact]
    public void A_few_frames_at_once_are_no_rush()
    {
        var rush = new SendRush(Frequency);
        for (long burst = 0; burst < 100; burst++)
            Assert.Equal(SendRush.WritesInARow, Writes(ref rush, start: burst * 1000, SendRush.WritesInARow));
    }

    [Fact]
    public void Frames_without_a_break_are_left_to_the_stage_while_it_takes_many_along()
    {
        var rush = new SendRush(Frequency);
        Assert.Equal(SendRush.WritesInARow, Writes(ref rush, start: 0, count: 100));
        rush.StageWrote(SendRush.FramesPerWake);
        Assert.True(rush.IsOn(10_000));
        rush.StageWrote(SendRush.FramesPerWake - 1);
        Assert.False(rush.IsOn(10_060));
    }

    /// <summary>Frames one after the other, 3 us each; how many of them their thread writes.</summary>
    private static int Writes(ref SendRush rush, long start, int count)
    {
        var writes = 0;
        for (var frame = 0; frame < count; frame++)
        {
            if (rush.IsOn(start + (3 * frame)))
                continue;
            writes++;
            rush.Wrote(start + (3 * frame) + 3);
        }

        return writes;
    }
}
