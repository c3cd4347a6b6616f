namespace ActOp.Partitioning.Tests;

public class MultilevelSelectionTests
{
    [Fact]
    public void The_gain_is_what_the_cut_falls_by_and_lies_between_single_moves_and_the_best_of_all_choices() =>
        Seeds.ForEach(300, random =>
    {
        var problem = Problems.NewProblem(random, random.Next(1, 13));
        MultilevelSelection selection = new(new());
        var gain = selection.Run(problem);
        var start = Problems.CostOf(problem, problem.Home);
        Assert.Equal(start - Problems.CostOf(problem, selection.Sides), gain, 6);
        Assert.True(gain >= new ExchangeSelection(new()).Run(problem) - 1e-6);
        Assert.True(gain <= start - Problems.BestCost(problem) + 1e-6);
    });

    [Fact]
    public void Loads_stay_in_their_bands_and_the_same_problem_has_the_same_result() => Seeds.ForEach(200, random =>
    {
        PartitioningOptions options = new() { Balance = random.Next(2) == 0 ? BalanceMeasure.Size : BalanceMeasure.Count };
        var problem = Problems.NewProblem(random, random.Next(1, 80), sized: options.Balance == BalanceMeasure.Size);
        MultilevelSelection selection = new(options);
        selection.Run(problem);
        (var left, var right) = Problems.LoadsOf(problem, selection.Sides);
        Assert.Equal(0, problem.Left.Violation(left) + problem.Right.Violation(right), 9);
        MultilevelSelection again = new(options);
        again.Run(problem);
        Assert.Equal(selection.Sides, again.Sides);
    });

    [Fact]
    public void Loads_outside_their_bands_come_no_further_out() => Seeds.ForEach(200, random =>
    {
        var problem = Problems.NewProblem(random, random.Next(1, 60), sized: true);
        problem.Left = problem.Left with { Current = random.Next(20, 80) };
        problem.Right = problem.Right with { Current = random.Next(20, 80) };
        var before = problem.Left.Violation(problem.Left.Current) + problem.Right.Violation(problem.Right.Current);
        MultilevelSelection selection = new(new() { Balance = BalanceMeasure.Size });
        var gain = selection.Run(problem);
        (var left, var right) = Problems.LoadsOf(problem, selection.Sides);
        Assert.True(problem.Left.Violation(left) + problem.Right.Violation(right) <= before + 1e-9);
        Assert.Equal(Problems.CostOf(problem, problem.Home) - Problems.CostOf(problem, selection.Sides), gain, 6);
    });

    [Fact]
    public void Two_groups_change_places_where_vertex_by_vertex_something_cheaper_is_always_in_the_way()
    {
        const int Group = 5, Others = 25;
        ExchangeProblem problem = new();
        problem.Reset(2 * (Group + Others));
        for (var i = 0; i < problem.Count; i++)
        {
            var grouped = i < 2 * Group;
            problem.Home[i] = i % 2;
            problem.Load[i] = 1;
            // Each member would be better off on the other side. All others would not, and are loosely tied in a chain.
            double pull = grouped ? 1 : -3;
            problem.External[i] = problem.Home[i] == 0 ? pull : -pull;
            if (!grouped && i >= (2 * Group) + 2)
                problem.AddPair(i, i - 2, 0.5);
            for (var j = 0; grouped && j < i; j++)
            {
                if (j % 2 == i % 2)
                    problem.AddPair(i, j, 2);
            }
        }

        problem.Seal();
        problem.Left = new(50, 50, 50);
        problem.Right = new(50, 50, 50);
        Assert.Equal(0, new MultilevelSelection(new() { ClusterCycles = 0 }).Run(problem));
        Assert.Equal(2 * Group, new MultilevelSelection(new()).Run(problem));
    }

    [Fact]
    public void Another_home_changes_what_costs_but_not_what_choices_are_worth() => Seeds.ForEach(200, random =>
    {
        var problem = Problems.NewProblem(random, random.Next(1, 25), sized: true);
        int[] home = Problems.NewSides(random, problem.Count), sides = Problems.NewSides(random, problem.Count);
        var moved = problem.From(home);
        Assert.Equal(home, moved.Home);
        AssertSameWorth(problem, home, sides, moved, home, sides);
    });

    [Fact]
    public void Choices_between_clusters_are_worth_what_they_are_between_their_members() => Seeds.ForEach(200, random =>
    {
        const double Limit = 8;
        var problem = Problems.NewProblem(random, random.Next(2, 40), sized: true);
        problem = problem.From(problem.Home);
        var cluster = new ProblemClusters(problem, Limit).Join(random, out var coarser);
        var sides = Problems.NewSides(random, coarser.Count);
        var members = new int[problem.Count];
        for (var i = 0; i < members.Length; i++)
        {
            members[i] = sides[cluster[i]];
            Assert.Equal(problem.Home[i], coarser.Home[cluster[i]]);
        }

        AssertSameWorth(problem, problem.Home, members, coarser, coarser.Home, sides);
        Assert.All(coarser.Load, load => Assert.InRange(load, 1, Limit));
        Assert.Equal(coarser.Count, cluster.Distinct().Count());
    });

    private static void AssertSameWorth(
        ExchangeProblem a, ReadOnlySpan<int> fromA, ReadOnlySpan<int> toA, ExchangeProblem b, ReadOnlySpan<int> fromB,
            ReadOnlySpan<int> toB)
    {
        Assert.Equal(Problems.CostOf(a, toA) - Problems.CostOf(a, fromA), Problems.CostOf(b, toB) - Problems.CostOf(b, fromB), 6);
        Assert.Equal(Problems.LoadsOf(a, toA), Problems.LoadsOf(b, toB));
    }
}
