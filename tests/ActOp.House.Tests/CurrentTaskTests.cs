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
        await Task.Factory.StartNew(
            () => anchor = CurrentTask(), TestContext.Current.CancellationToken, TaskCreationOptions.None, scheduler);
        var outer = CurrentTask();
        CurrentTask() = anchor;
        var seen = TaskScheduler.Current;
        CurrentTask() = outer;
        Assert.Same(scheduler, seen);
        Assert.NotSame(scheduler, TaskScheduler.Current);
    }

    [Fact]
    public void The_scheduler_that_a_turn_writes_into_its_task_is_the_current_one()
    {
        var scheduler = new ConcurrentExclusiveSchedulerPair().ExclusiveScheduler;
        var task = new Task(static () => { }, TaskCreationOptions.DenyChildAttach);
        var outer = CurrentTask();
        CurrentTask() = task;
        SchedulerOf(task) = scheduler;
        var seen = TaskScheduler.Current;
        var child = new Task(static () => { }, TaskCreationOptions.AttachedToParent);
        SchedulerOf(task) = null;
        var after = TaskScheduler.Current;
        CurrentTask() = outer;
        Assert.Same(scheduler, seen);
        Assert.Same(TaskScheduler.Default, after);
        child.RunSynchronously(TaskScheduler.Default);
        Assert.Equal(TaskStatus.Created, task.Status);
    }

    [Fact]
    public void The_context_that_a_turn_restores_is_the_current_one()
    {
        var outer = SynchronizationContext.Current;
        var context = new SynchronizationContext();
        try
        {
            ContextOf(Thread.CurrentThread) = context;
            Assert.Same(context, SynchronizationContext.Current);
            SynchronizationContext.SetSynchronizationContext(outer);
            Assert.Same(outer, ContextOf(Thread.CurrentThread));
        }
        finally
        {
            SynchronizationContext.SetSynchronizationContext(outer);
        }
    }

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_synchronizationContext")]
    private static extern ref SynchronizationContext? ContextOf(Thread thread);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "m_taskScheduler")]
    private static extern ref TaskScheduler? SchedulerOf(Task task);

    [UnsafeAccessor(UnsafeAccessorKind.StaticField, Name = "t_currentTask")]
    private static extern ref Task? CurrentTask(Task? type = null);
}
