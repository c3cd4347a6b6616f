using ActOp.Runtime.Routing;

namespace ActOp.Calls.Tests;

/// <summary>When threads without a pause leave their frames to the send stage. Timestamps are microseconds.</summary>
public sealed class WriteBurstTests
{
    private const long Frequency = 1_000_000;

    [Fact]
    public void A_thread_that_sends_rarely_writes_its_own_frames()
    {
        var burst = new WriteBurst(Frequency);
        for (long now = 0; now < 100_000; now += 50)
        {
            Assert.False(burst.IsOn(now));
            burst.Wrote(now + 3);
        }
    }

    [Fact]
    public void A_few_frames_at_once_are_no_burst()
    {
        var burst = new WriteBurst(Frequency);
        for (long run = 0; run < 100; run++)
            Assert.Equal(WriteBurst.WritesInARow, Writes(ref burst, start: run * 1000, WriteBurst.WritesInARow));
    }

    [Fact]
    public void Frames_without_a_break_are_left_to_the_stage_while_its_writes_are_large()
    {
        var burst = new WriteBurst(Frequency);
        Assert.Equal(WriteBurst.WritesInARow, Writes(ref burst, start: 0, count: 100));
        burst.StageWrote(WriteBurst.FramesPerWake);
        Assert.True(burst.IsOn(10_000));
        burst.StageWrote(WriteBurst.FramesPerWake - 1);
        Assert.False(burst.IsOn(10_060));
    }

    /// <summary>Frames one after the other, 3 us each; how many of them their thread writes.</summary>
    private static int Writes(ref WriteBurst burst, long start, int count)
    {
        var writes = 0;
        for (var frame = 0; frame < count; frame++)
        {
            if (burst.IsOn(start + (3 * frame)))
                continue;
            writes++;
            burst.Wrote(start + (3 * frame) + 3);
        }

        return writes;
    }
}
