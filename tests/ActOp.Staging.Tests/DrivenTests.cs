namespace ActOp.Staging.Tests;

/// <summary>Stages without threads: what they are given runs when their driver says so.</summary>
public sealed class DrivenTests
{
    [Fact]
    public async Task Items_of_a_driven_stage_run_one_by_one_on_the_drivers_thread_when_it_says_so()
    {
        var driver = new Driver();
        var log = new List<string>();
        var stage = new Stage(
            "test", driver, static error => throw new InvalidOperationException("An item threw.", error), () => log.Add("pause"));
        var second = new Item(_ => log.Add("second"));
        stage.Post(new Item(_ =>
        {
            Assert.True(Stage.WillPause);
            Assert.Throws<InvalidOperationException>(() => stage.RunDriven(second));
            stage.Post(second);
            log.Add("first");
        }));
        Assert.Empty(log);
        Assert.False(stage.IsAsleep);
        using (var run = stage.Borrow())
            Assert.False(run.IsHeld);
        while (driver.Ready.TryDequeue(out var ready))
            ready.Stage.RunDriven(ready.Item);
        Assert.False(Stage.WillPause);
        Assert.Equal(["first", "pause", "second", "pause"], log);
        Assert.Equal(2, stage.Counters.Executed);
        stage.SetThreads(4);
        Assert.Equal(0, stage.Threads);
        await Stages.Stop(stage);
    }

    [Fact]
    public void A_driven_item_that_throws_is_reported_and_the_pause_follows()
    {
        var driver = new Driver();
        Exception? reported = null;
        var pauses = 0;
        var stage = new Stage("test", driver, error => reported = error, () => pauses++);
        stage.RunDriven(new Item(static _ => throw new FormatException()));
        Assert.IsType<FormatException>(reported);
        Assert.Equal(1, pauses);
        Assert.False(Stage.WillPause);
    }

    [Fact]
    public void The_steps_of_a_driven_poll_stage_are_made_by_the_driver()
    {
        var driver = new Driver();
        var steps = new List<int>();
        var goesOn = true;
        var woken = new List<int>();
        using var stage = new PollStage("test", index =>
        {
            steps.Add(index);
            return goesOn;
        }, woken.Add, static error => throw error)
        { Driver = driver };
        stage.SetThreads(2);
        Assert.Equal([(stage, 0), (stage, 1)], driver.Begun);
        Assert.Empty(steps);
        Assert.True(stage.StepOnce(1));
        Assert.True(stage.StepOnce(0));
        Assert.Equal([1, 0], steps);
        stage.SetThreads(1);
        Assert.Equal([1], woken);
        Assert.False(stage.StepOnce(1));
        goesOn = false;
        Assert.False(stage.StepOnce(0));
    }

    private sealed class Driver : StageDriver
    {
        internal readonly Queue<(Stage Stage, IStageItem Item)> Ready = new();
        internal readonly List<(PollStage Stage, int Index)> Begun = [];

        internal override void Post(Stage stage, IStageItem item) => Ready.Enqueue((stage, item));

        internal override void Begin(PollStage stage, int index) => Begun.Add((stage, index));
    }
}
