using ActOp.Lab.Seda;
using FsCheck;
using FsCheck.Fluent;

namespace ActOp.Lab.Tests.Seda;

public class EmulatedServerTests
{
    private const double Patience = 1e6;

    [Fact]
    public void The_same_seed_gives_the_same_run_and_another_seed_another()
    {
        var first = Finished(Runs.SixStages);
        Assert.Equal(first, Finished(Runs.SixStages));
        Assert.NotEqual(first, Finished(Runs.SixStages with { Seed = 2 }));
    }

    [Fact]
    public void No_request_is_lost_or_doubled_when_threads_change_at_random() => Prop.ForAll(Changes, static changes =>
    {
        EmulatedServer server = new(Runs.SixStages, Runs.SixStages.ThreadsLikeProcessors);
        List<long> finished = [];
        server.Finished = request => finished.Add(request.Number);
        foreach (var (stage, threads) in changes)
        {
            server.SetThreads(stage, threads);
            server.RunUntil(server.Now + 0.05);
        }

        server.Rate = 0;
        server.RunUntil(Patience);
        finished.Sort();
        return finished.SequenceEqual(Enumerable.Range(0, (int)server.Arrived).Select(static number => (long)number))
            && server.Stages.All(static stage => stage is { Busy: 0, Queued: 0 });
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_stage_that_loses_threads_ends_what_it_began_and_begins_no_more() => Prop.ForAll(Changes, static changes =>
    {
        EmulatedServer server = new(Runs.SixStages with { Rate = 5000 }, Runs.SixStages.ThreadsLikeProcessors);
        foreach (var (stage, threads) in changes)
        {
            var busy = server.Stages[stage].Busy;
            server.SetThreads(stage, threads);
            for (var step = 0; step < 10; step++)
            {
                server.RunUntil(server.Now + 0.005);
                if (server.Stages[stage].Busy > Math.Max(busy, threads))
                    return false;
                busy = server.Stages[stage].Busy;
            }
        }

        return true;
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void Sharing_conserves_work() => Prop.ForAll(Changes, static changes =>
    {
        var plan = Runs.SixStages with { Shape = ServiceShape.Deterministic, SwitchCost = 0, Rate = 600 };
        EmulatedServer server = new(plan, plan.ThreadsLikeProcessors);
        foreach (var (stage, threads) in changes)
        {
            server.SetThreads(stage, threads);
            server.RunUntil(server.Now + 0.05);
        }

        server.Rate = 0;
        server.RunUntil(Patience);
        var expected = server.Arrived * plan.Stages.Sum(static stage => stage.Compute);
        return Math.Abs(server.ProcessorSeconds - expected) <= 1e-6 * Math.Max(1, expected);
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void What_a_silo_would_measure_is_what_the_plan_says()
    {
        var plan = Runs.SixStages with { SwitchCost = 0 };
        EmulatedServer server = new(plan, plan.ThreadsLikeProcessors);
        server.RunUntil(400);
        for (var i = 0; i < plan.Stages.Count; i++)
        {
            var demand = server.Stages[i].Collect(400).Demand;
            Runs.AssertNear(plan.Rate, demand.Arrivals, 0.02);
            Runs.AssertNear(plan.Stages[i].Compute, demand.Compute, 0.02);
            Runs.AssertNear(plan.Stages[i].Blocked, demand.Blocked, 0.02);
        }
    }

    [Fact]
    public void A_period_without_completed_events_keeps_the_last_means()
    {
        SedaPlan plan = new([new(0.1)], 5, 1) { Shape = ServiceShape.Deterministic };
        EmulatedServer server = new(plan, [1]);
        Assert.Equal(default, server.Stages[0].Collect(1).Demand);
        server.RunUntil(100);
        server.Stages[0].Collect(100);
        server.Stages[0].Load = new(1000);
        server.RunUntil(200);
        server.Stages[0].Collect(100);
        server.RunUntil(300);
        var demand = server.Stages[0].Collect(100).Demand;
        Assert.InRange(demand.Arrivals, 3, 7);
        Assert.Equal(0.1, demand.Compute, 1e-6);
    }

    private static Arbitrary<(int Stage, int Threads)[]> Changes { get; } = Arb.From(Gen.ArrayOf(
        from stage in Gen.Choose(0, 5)
        from threads in Gen.Choose(1, 20)
        select (stage, threads)));

    private static List<(long, double)> Finished(SedaPlan plan)
    {
        EmulatedServer server = new(plan, plan.ThreadsLikeProcessors);
        List<(long, double)> finished = [];
        server.Finished = request => finished.Add((request.Number, server.Now));
        server.RunUntil(20);
        return finished;
    }
}
