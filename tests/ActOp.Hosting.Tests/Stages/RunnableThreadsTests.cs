using ActOp.Runtime.Stages;

namespace ActOp.Hosting.Tests.Stages;

public class RunnableThreadsTests
{
    [Theory]
    [InlineData("8.88 10.56 6.43 7/279 26402", 7)]
    [InlineData("8.88 10.56 6.43", null)]
    [InlineData("a b c d/e", null)]
    [InlineData("", null)]
    public void The_runnable_threads_of_the_machine_are_read(string line, int? expected) =>
        Assert.Equal(expected, RunnableThreads.Parse(line));

    [Fact]
    public void The_thread_that_counts_the_runnable_ones_is_not_counted()
    {
        var runnable = new RunnableThreads();
        Assert.Null(runnable.TakeMean());
        runnable.Add(3);
        runnable.Add(null);
        runnable.Add(6);
        Assert.Equal(3.5, runnable.TakeMean());
        Assert.Null(runnable.TakeMean());
    }
}
