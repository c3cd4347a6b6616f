using ActOp.Runtime.Stages;

namespace ActOp.Hosting.Tests.Stages;

public sealed class RunDelayTests : IDisposable
{
    private const long Second = 1_000_000_000;
    private readonly string _tasks = Directory.CreateTempSubdirectory("actop-tasks-").FullName;

    public void Dispose() => Directory.Delete(_tasks, true);

    [Fact]
    public void A_period_has_what_all_threads_ran_and_waited_in_it()
    {
        Write("1", 5 * Second, 7 * Second);
        var delay = new RunDelay(_tasks);
        Write("1", 6 * Second, 10 * Second);
        Write("2", Second, 2 * Second);
        Assert.Equal((2, 5), delay.Take());
        Assert.Equal((0, 0), delay.Take());
    }

    [Fact]
    public void A_thread_that_has_ended_is_left_out_and_its_number_begins_anew()
    {
        Write("1", 5 * Second, 7 * Second);
        Write("2", 5 * Second, 7 * Second);
        var delay = new RunDelay(_tasks);
        Directory.Delete(Path.Combine(_tasks, "1"), true);
        Write("2", Second, 2 * Second);
        Assert.Equal((1, 2), delay.Take());
    }

    [Fact]
    public void A_system_that_keeps_no_statistics_says_nothing()
    {
        var delay = new RunDelay(Path.Combine(_tasks, "none"));
        Assert.Null(delay.Take());
        Directory.CreateDirectory(Path.Combine(_tasks, "1"));
        delay = new RunDelay(_tasks);
        Assert.Null(delay.Take());
    }

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
        Assert.Null(runnable.Take());
        runnable.Add(3);
        runnable.Add(null);
        runnable.Add(6);
        Assert.Equal(3.5, runnable.Take());
        Assert.Null(runnable.Take());
    }

    private void Write(string thread, long ran, long waited)
    {
        var directory = Directory.CreateDirectory(Path.Combine(_tasks, thread)).FullName;
        File.WriteAllText(Path.Combine(directory, "schedstat"), $"{ran} {waited} 12\n");
    }
}
