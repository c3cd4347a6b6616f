namespace ActOp.Shutdown.Tests;

/// <summary>The census counts what is a test's own.</summary>
public class CensusTests
{
    [Fact]
    public void What_ends_a_moment_after_the_test_before_is_not_taken_for_the_next_ones()
    {
        var looks = Census.Looks;
        // As a worker of a silo that has stopped: whoever looks at once sees it.
        var worker = new Thread(() => Census.AwaitLook(looks)) { Name = "actop-ending" };
        worker.Start();
        var before = Census.Begin();
        worker.Join();
        Assert.DoesNotContain("thread actop-ending", before);
        Census.Is(before);
    }
}
