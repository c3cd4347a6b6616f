using ActOp.Staging.Model;
using FsCheck;
using FsCheck.Fluent;

namespace ActOp.Staging.Tests.Model;

public class ThreadRoundingTests
{
    private const int Most = 10_000;

    [Fact]
    public void Every_stage_stays_stable() => Prop.ForAll(Demands.Feasible, static demands =>
    {
        var counts = Round(demands, out _);
        return !counts.IsOverloaded
            && demands.Stages.Select((stage, i) => counts.Threads[i] > stage.BusyThreads).All(static stable => stable);
    }).QuickCheckThrowOnFailure();

    /// <summary>Oracle: all whole numbers near the optimum.</summary>
    [Fact]
    public void The_limit_of_processors_is_passed_only_where_every_stable_neighbour_passes_it() =>
        Prop.ForAll(Demands.Feasible, static demands =>
    {
        var counts = Round(demands, out var model);
        var shares = model.Solve(demands.Stages).Threads;
        var fewest = demands.Stages.Select((stage, i) => Math.Max(Math.Floor(shares[i]), Math.Floor(stage.BusyThreads) +
            1) * stage.ProcessorShare).Sum();
        return counts.ExceedsProcessors == fewest > demands.Processors;
    }).QuickCheckThrowOnFailure();

    /// <summary>Oracle: where the processors do not bind, each stage's best count, found by trying all.</summary>
    [Fact]
    public void Without_a_binding_limit_no_whole_number_is_better() => Prop.ForAll(Demands.Feasible, static demands =>
    {
        var plenty = demands with { Processors = 1e9 };
        var counts = Round(plenty, out var model);
        var best = model.Objective(plenty.Stages, [.. counts.Threads.Select(static count => (double)count)]);
        for (var i = 0; i < plenty.Stages.Length; i++)
        {
            foreach (var step in new[] { -2, -1, 1, 2 })
            {
                var other = counts.Threads.Select(static count => (double)count).ToArray();
                other[i] = Math.Max(1, other[i] + step);
                if (model.Objective(plenty.Stages, other) < best * (1 - 1e-9))
                    return false;
            }
        }

        return true;
    }).QuickCheckThrowOnFailure();

    /// <summary>Oracle: all whole numbers of a small server. The ones that are found are not always the best of all, but close.</summary>
    [Fact]
    public void Whole_numbers_are_close_to_the_best_of_all()
    {
        Assert.All(Demands.Feasible.Generator.Sample(20_000), static demands =>
        {
            var counts = Round(demands, out var model);
            if (counts.ExceedsProcessors || counts.Threads.Any(static count => count > 8))
                return;
            var ours = model.Objective(demands.Stages, [.. counts.Threads.Select(static count => (double)count)]);
            var best = Best(demands, model, new int[demands.Stages.Length], 0);
            Assert.True(ours <= 1.5 * best, demands + ": " + ours + ", and " + best + " is possible.");
        });
    }

    [Fact]
    public void Where_every_choice_exceeds_the_processors_a_blocking_stage_still_gets_more_than_the_least()
    {
        StageDemand[] stages = [new(1000, 0.0001), new(1000, 0.0001, 0.0018), new(1, 0.0001), new(1, 0.0001)];
        var model = new ThreadModel(2, 1e-5);
        var counts = new ThreadRounding(model, 1, 64).Round(stages, model.Solve(stages));
        Assert.True(counts.ExceedsProcessors);
        Assert.True(counts.Threads[1] > 2);
    }

    [Fact]
    public void Counts_stay_between_the_bounds_and_overload_is_marked()
    {
        StageDemand[] stages = [new(9000, 0.001), default];
        var model = new ThreadModel(8, 1e-4);
        var counts = new ThreadRounding(model, 1, 4).Round(stages, model.Solve(stages));
        Assert.Equal([4, 1], counts.Threads);
        Assert.True(counts.IsOverloaded);
    }

    private static double Best(Demands demands, ThreadModel model, int[] threads, int stage)
    {
        if (stage == threads.Length)
        {
            var used = threads.Select((count, i) => count * demands.Stages[i].ProcessorShare).Sum();
            return used > demands.Processors
                ? double.PositiveInfinity : model.Objective(demands.Stages, [.. threads.Select(static count => (double)count)]);
        }

        var best = double.PositiveInfinity;
        for (threads[stage] = 1; threads[stage] <= 10; threads[stage]++)
            best = Math.Min(best, Best(demands, model, threads, stage + 1));
        return best;
    }

    private static ThreadCounts Round(Demands demands, out ThreadModel model)
    {
        model = new ThreadModel(demands.Processors, demands.Penalty);
        return new ThreadRounding(model, 1, Most).Round(demands.Stages, model.Solve(demands.Stages));
    }
}
