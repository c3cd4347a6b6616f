using ActOp.Lab.Seda;

namespace ActOp.Lab.Tests.Seda;

/// <summary>The silo's controllers at work on the emulated server.</summary>
public class ControlLoopTests
{
    private const double Settled = 120;
    private static readonly SedaPlan Plan = Runs.SixStages;
    private static readonly SedaStudy Study = new(Plan);

    [Fact]
    public void Queue_lengths_make_threads_flip_at_constant_load()
    {
        ControlLoop loop = new(new(Plan, Plan.ThreadsLikeProcessors), Study.NewQueueLength(), Study.QueuePeriod);
        loop.RunUntil(600);
        var before = loop.Changes;
        loop.RunUntil(600 + 600);
        Assert.True(loop.Changes - before >= 20, $"{loop.Changes - before} changes in 10 minutes.");
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void The_model_is_calm_at_constant_load(int seed)
    {
        var plan = Plan with { Seed = seed };
        ControlLoop loop = new(new(plan, plan.ThreadsLikeProcessors), Study.NewModel(), Study.ModelPeriod);
        loop.RunUntil(Settled);
        var before = loop.Changes;
        loop.RunUntil(Settled + 600);
        Assert.True(loop.Changes - before <= 10, $"{loop.Changes - before} changes in 10 minutes.");
    }

    [Fact]
    public void The_model_is_calm_when_a_period_has_few_events()
    {
        // A tenth of the requests, each ten times as long.
        var plan = Plan with
        {
            Rate = Plan.Rate / 10,
            Stages =
            [.. Plan.Stages.Select(static stage => new StageLoad(10 * stage.Compute, 10 * stage.Blocked))]
        };
        ControlLoop loop = new(new(plan, plan.ThreadsLikeProcessors), (Study with { Penalty = 1e-3 }).NewModel(), Study.ModelPeriod);
        loop.RunUntil(Settled);
        var before = loop.Changes;
        loop.RunUntil(Settled + 1800);
        Assert.True(loop.Changes - before <= 30, $"{loop.Changes - before} changes in 30 minutes.");
    }

    [Fact]
    public void The_model_answers_a_step_from_20_to_80_per_cent_within_three_periods()
    {
        // Threads that are dear, so that at 20 per cent there are not already enough for 80.
        var study = Study with { Penalty = 1e-3 };
        var processorTime = Plan.Stages.Sum(static stage => stage.Compute);
        var low = Plan with { Rate = 0.2 * Plan.Processors / processorTime };
        EmulatedServer server = new(low, low.ThreadsLikeProcessors);
        ControlLoop loop = new(server, study.NewModel(), study.ModelPeriod);
        loop.RunUntil(Settled);
        var high = 4 * low.Rate;
        Assert.Contains(Plan.Stages.Zip(server.Stages), pair => pair.Second.Threads <= pair.First.Demand(high).BusyThreads);
        server.Rate = high;
        loop.RunUntil(Settled + (3 * Study.ModelPeriod));
        Assert.All(Plan.Stages.Zip(server.Stages), pair => Assert.True(pair.Second.Threads > pair.First.Demand(high).BusyThreads));
    }

    [Fact]
    public void The_model_follows_a_stage_that_begins_to_block_and_one_that_ends()
    {
        EmulatedServer server = new(Plan, Plan.ThreadsLikeProcessors);
        ControlLoop loop = new(server, Study.NewModel(), Study.ModelPeriod);
        loop.RunUntil(Settled);
        var before = server.Stages[0].Threads;
        StageLoad blocking = new(Plan.Stages[0].Compute, 0.02);
        server.Stages[0].Load = blocking;
        loop.RunUntil(Settled + (5 * Study.ModelPeriod));
        Assert.True(server.Stages[0].Threads > blocking.Demand(Plan.Rate).BusyThreads, $"{server.Stages[0].Threads} threads.");
        server.Stages[0].Load = Plan.Stages[0];
        loop.RunUntil((2 * Settled) + (5 * Study.ModelPeriod));
        Assert.InRange(server.Stages[0].Threads, 1, before + 1);
    }

    [Fact]
    public void Fixed_threads_stay()
    {
        EmulatedServer server = new(Plan, Plan.ThreadsLikeProcessors);
        ControlLoop loop = new(server, Study.NewFixed(), Study.ModelPeriod);
        loop.RunUntil(100);
        Assert.Equal(0, loop.Changes);
        Assert.All(server.Stages, stage => Assert.Equal(Plan.Processors, stage.Threads));
    }
}
