namespace ActOp.Staging.Tests;

/// <summary>What a change of the number of threads must not do to the work that waits.</summary>
public sealed class ResizeTests
{
    /// <summary>R12: a thread that came after others had ended looked for work at a position that was its own.</summary>
    [Fact]
    public async Task A_thread_that_came_back_helps_one_that_has_a_backlog()
    {
        var stage = Stages.New(2);
        stage.SetThreads(1);
        using var begun = new ManualResetEventSlim();
        using var grown = new ManualResetEventSlim();
        var helped = false;
        var stolen = 0;
        var thread = 0;
        var others = Enumerable.Range(0, 200).Select(_ => new Item(_ =>
        {
            if (Environment.CurrentManagedThreadId != Volatile.Read(ref thread))
                Interlocked.Increment(ref stolen);
        })).ToArray();
        stage.Post(new Item(_ =>
        {
            thread = Environment.CurrentManagedThreadId;
            begun.Set();
            Assert.True(grown.Wait(Stages.Patience));
            foreach (var other in others)
                stage.Post(other);
            helped = Stages.ComesTrue(() => Volatile.Read(ref stolen) > 0);
        }));
        Assert.True(begun.Wait(Stages.Patience));
        stage.SetThreads(2);
        grown.Set();
        Stages.Until(() => others.All(other => other.Runs == 1));
        await Stages.Stop(stage);
        Assert.True(helped);
    }

    /// <summary>R13: a thread that was woken and told to go before it had looked took the wake-up with it.</summary>
    [Fact]
    public async Task A_wake_up_given_to_a_thread_that_is_to_end_reaches_another_one()
    {
        var stage = Stages.New(2);
        for (var round = 0; round < 200; round++)
        {
            Stages.Settle(stage);
            var item = new Item();
            stage.Post(item);
            stage.SetThreads(1);
            Stages.Until(() => item.Runs == 1);
            stage.SetThreads(2);
        }

        await Stages.Stop(stage);
    }
}
