using ActOp.Staging.Measuring;

namespace ActOp.Staging.Tests.Measuring;

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
        Assert.Equal(new RunTimes(2, 5, 2), delay.TakeTimes());
        Assert.Equal(default(RunTimes), delay.TakeTimes());
    }

    [Fact]
    public void A_thread_that_has_ended_is_left_out_and_its_number_begins_anew()
    {
        Write("1", 5 * Second, 7 * Second);
        Write("2", 5 * Second, 7 * Second);
        var delay = new RunDelay(_tasks);
        Directory.Delete(Path.Combine(_tasks, "1"), true);
        Write("2", Second, 2 * Second);
        Assert.Equal(new RunTimes(1, 2, 1), delay.TakeTimes());
    }

    [Fact]
    public void A_system_that_keeps_no_statistics_says_nothing()
    {
        var delay = new RunDelay(Path.Combine(_tasks, "none"));
        Assert.Null(delay.TakeTimes());
        Directory.CreateDirectory(Path.Combine(_tasks, "1"));
        delay = new RunDelay(_tasks);
        Assert.Null(delay.TakeTimes());
    }

    [Fact]
    public void Only_threads_of_the_name_count_from_when_they_have_it()
    {
        Write("1", 5 * Second, 7 * Second, "pool");
        Write("2", 5 * Second, 7 * Second, "other");
        Write("3", 5 * Second, 7 * Second, "other");
        var delay = new RunDelay(_tasks, "pool");
        Write("1", 6 * Second, 7 * Second, "pool");
        Write("2", 8 * Second, 9 * Second, "other");
        Write("3", 9 * Second, 7 * Second, "pool");
        Assert.Equal(new RunTimes(5, 0, 2), delay.TakeTimes());
        Write("1", 6 * Second, 8 * Second, "pool");
        Assert.Equal(new RunTimes(0, 1, 0), delay.TakeTimes());
    }

    [Fact]
    public void A_number_that_another_thread_has_got_does_not_count_by_its_old_name()
    {
        Write("1", 5 * Second, 7 * Second, "pool");
        var delay = new RunDelay(_tasks, "pool");
        Write("1", Second, 0, "other");
        Assert.Equal(default(RunTimes), delay.TakeTimes());
    }

    [Theory]
    [InlineData("150000 100000", 1.5)]
    [InlineData("max 100000", null)]
    [InlineData("-1 100000", null)]
    [InlineData("", null)]
    [InlineData("100000", null)]
    public void A_containers_quota_is_a_number_of_processors(string text, double? processors) =>
        Assert.Equal(processors, ProcessorQuota.Parse(text));

    [Fact]
    public void The_processors_are_no_more_than_the_system_has() => Assert.InRange(ProcessorQuota.Read(), 0.01, Environment.ProcessorCount);

    private void Write(string thread, long ran, long waited, string name = "any")
    {
        var directory = Directory.CreateDirectory(Path.Combine(_tasks, thread)).FullName;
        File.WriteAllText(Path.Combine(directory, "schedstat"), $"{ran} {waited} 12\n");
        File.WriteAllText(Path.Combine(directory, "comm"), name + "\n");
    }
}
