using ActOp.Staging.Model;
using FsCheck;
using FsCheck.Fluent;

namespace ActOp.Staging.Tests.Model;

public class ThreadModelTests
{
    [Fact]
    public void The_optimum_is_stable_and_within_the_processors() => Prop.ForAll(Demands.Feasible, static demands =>
    {
        var shares = Solve(demands, out _);
        var used = Used(demands, shares);
        return demands.Stages.Select((stage, i) => shares.Threads[i] > stage.BusyThreads).All(static stable => stable)
            && used <= demands.Processors * (1 + 1e-6);
    }).QuickCheckThrowOnFailure();

    /// <summary>Karush, Kuhn and Tucker: no gradient is left, and a price only where the processors bind.</summary>
    [Fact]
    public void The_optimum_meets_the_conditions_of_optimality() => Prop.ForAll(Demands.Feasible, static demands =>
    {
        var shares = Solve(demands, out var model);
        var total = demands.Stages.Sum(static stage => stage.Arrivals);
        for (var i = 0; i < demands.Stages.Length; i++)
        {
            var stage = demands.Stages[i];
            var spare = (stage.ServiceRate * shares.Threads[i]) - stage.Arrivals;
            var gain = stage.Arrivals * stage.ServiceRate / (total * spare * spare);
            var price = demands.Penalty + (shares.Multiplier * stage.ProcessorShare);
            if (Math.Abs(gain - price) > 1e-3 * price)
                return false;
        }

        var isTight = Math.Abs(Used(demands, shares) - demands.Processors) <= 1e-6 * demands.Processors;
        return shares.Multiplier >= 0 && (shares.Multiplier == 0 || isTight)
            && (demands.Penalty >= model.Threshold(demands.Stages)) == (shares.Multiplier == 0);
    }).QuickCheckThrowOnFailure();

    /// <summary>Oracle: a descent that knows nothing of the solution's form.</summary>
    [Fact]
    public void A_generic_descent_finds_nothing_better() => Prop.ForAll(Demands.OfUpTo(8), static demands =>
    {
        var best = Solve(demands, out var model).Threads;
        var found = new PairwiseDescent(demands, model).Run();
        var (ours, theirs) = (model.Objective(demands.Stages, best), model.Objective(demands.Stages, found));
        return ours <= theirs * (1 + 1e-6) && theirs <= ours * 1.01;
    }).QuickCheckThrowOnFailure();

    /// <summary>Theorem 2, word for word.</summary>
    [Fact]
    public void With_processors_to_spare_the_closed_form_holds()
    {
        StageDemand[] stages = [new(1000, 0.0005), new(400, 0.001, 0.004)];
        var model = new ThreadModel(8, 1e-4);
        Assert.True(model.Penalty >= model.Threshold(stages));
        var shares = model.Solve(stages);
        Assert.Equal(0.5 + Math.Sqrt(1000 / (1400 * 1e-4 * 2000)), shares.Threads[0], 1e-9);
        Assert.Equal(2 + Math.Sqrt(400 / (1400 * 1e-4 * 200)), shares.Threads[1], 1e-9);
    }

    /// <summary>Footnote 3 of the paper has it the wrong way round: as the load grows, zeta grows beyond all bounds.</summary>
    [Fact]
    public void The_threshold_grows_with_the_load_so_that_under_high_load_the_processors_bind()
    {
        double Threshold(double load) => new ThreadModel(8, 1e-4).Threshold([new(8 * load / 0.0005, 0.0005)]);
        Assert.True(Threshold(0.5) < Threshold(0.9));
        Assert.True(Threshold(0.9) < Threshold(0.99));
        Assert.True(Threshold(0.999) > 1e-4);
        Assert.Equal(double.PositiveInfinity, Threshold(1));
    }

    [Fact]
    public void The_unit_of_time_does_not_matter() => Prop.ForAll(Demands.Feasible, static demands =>
    {
        const double Unit = 1000;
        var scaled = demands with
        {
            Penalty = demands.Penalty * Unit,
            Stages = Array.ConvertAll(
                demands.Stages, static stage => new StageDemand(stage.Arrivals / Unit, stage.Compute * Unit, stage.Blocked * Unit)),
        };
        var (one, other) = (Solve(demands, out _), Solve(scaled, out _));
        return one.Threads.Zip(other.Threads).All(static pair => Math.Abs(pair.First - pair.Second) <= 1e-5 * pair.First);
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void Overload_shares_the_processors_in_proportion_to_demand()
    {
        var shares = new ThreadModel(2, 1e-4).Solve([new(3000, 0.001), new(1000, 0.001)]);
        Assert.True(shares.IsOverloaded);
        Assert.Equal([1.5, 0.5], shares.Threads);
    }

    [Fact]
    public void A_stage_without_arrivals_gets_no_threads_and_counts_for_nothing()
    {
        StageDemand[] busy = [new(1000, 0.0005)];
        StageDemand[] both = [.. busy, new(0, 0)];
        var model = new ThreadModel(4, 1e-4);
        Assert.Equal([model.Solve(busy).Threads[0], 0], model.Solve(both).Threads);
        Assert.Equal([0.0, 0.0], model.Solve([default, default]).Threads);
    }

    [Fact]
    public void Impossible_figures_are_refused_by_name()
    {
        var model = new ThreadModel(4, 1e-4);
        Assert.Equal("Arrivals", Assert.Throws<ArgumentOutOfRangeException>(() => model.Solve([new(-1, 1)])).ParamName);
        Assert.Equal("Compute", Assert.Throws<ArgumentOutOfRangeException>(() => model.Solve([new(1, 0)])).ParamName);
        Assert.Equal("Blocked", Assert.Throws<ArgumentOutOfRangeException>(() => model.Solve([new(1, 1, double.NaN)])).ParamName);
        Assert.Equal("processors", Assert.Throws<ArgumentOutOfRangeException>(() => new ThreadModel(0, 1)).ParamName);
        Assert.Equal("penalty", Assert.Throws<ArgumentOutOfRangeException>(() => new ThreadModel(1, 0)).ParamName);
    }

    private static ThreadShares Solve(Demands demands, out ThreadModel model)
    {
        model = new ThreadModel(demands.Processors, demands.Penalty);
        return model.Solve(demands.Stages);
    }

    private static double Used(Demands demands, ThreadShares shares) =>
        demands.Stages.Select((stage, i) => shares.Threads[i] * stage.ProcessorShare).Sum();
}
