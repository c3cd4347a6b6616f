using System.Runtime.CompilerServices;

namespace ActOp.House.Tests;

/// <summary>A detail of .NET that the runtime's turns rest on (docs/adr/0006).</summary>
public class CurrentTaskTests
{
    [Fact]
    public async Task The_field_that_a_turn_sets_decides_the_current_scheduler()
    {
        var scheduler = new ConcurrentExclusiveSchedulerPair().ExclusiveScheduler;
        Task? anchor = null;
        await Task.Factory.StartNew(() => anchor = CurrentTask(), TestContext.Current.CancellationToken, TaskCreationOptions.None, scheduler);
        Task? outer = CurrentTask();
        CurrentTask() = anchor;
        TaskScheduler seen = TaskScheduler.Current;
        CurrentTask() = outer;
        Assert.Same(scheduler, seen);
        Assert.NotSame(scheduler, TaskScheduler.Current);
    }

    [UnsafeAccessor(UnsafeAccessorKind.StaticField, Name = "t_currentTask")]
    private static extern ref Task? CurrentTask(Task? type = null);
}
