namespace ActOp.Partitioning.Tests;

public class ExchangeSelectionTests
{
    [Fact]
    public void Scores_kept_up_to_date_equal_scores_from_scratch() => Seeds.ForEach(300, random =>
    {
        ExchangeProblem problem = NewProblem(random, random.Next(1, 25));
        ExchangeSelection selection = new(NewOptions(random));
        selection.Run(problem);
        for (int i = 0; i < problem.Count; i++)
            Assert.Equal(problem.Score(i, selection.Sides), selection.Scores[i], 6);
    });

    [Fact]
    public void The_gain_is_what_the_cut_falls_by_and_never_beats_the_best_of_all_choices() => Seeds.ForEach(200, random =>
    {
        ExchangeProblem problem = NewProblem(random, random.Next(1, 11));
        ExchangeSelection selection = new(NewOptions(random));
        double gain = selection.Run(problem);
        double start = CostOf(problem, problem.Home);
        Assert.Equal(start - CostOf(problem, selection.Sides), gain, 6);
        Assert.True(gain >= 0);
        Assert.True(gain <= start - BestCost(problem) + 1e-6);
    });

    [Fact]
    public void Loads_stay_in_their_bands() => Seeds.ForEach(300, random =>
    {
        PartitioningOptions options = NewOptions(random) with { Balance = BalanceMeasure.Size };
        ExchangeProblem problem = NewProblem(random, random.Next(1, 25), sized: true);
        ExchangeSelection selection = new(options);
        selection.Run(problem);
        (double left, double right) = LoadsOf(problem, selection.Sides);
        Assert.Equal(0, problem.Left.Violation(left) + problem.Right.Violation(right), 9);
    });

    [Fact]
    public void Look_ahead_passes_a_hill_that_stops_the_plain_algorithm()
    {
        // Two vertices that belong to the other side but hold on to each other.
        ExchangeProblem problem = new();
        problem.Reset(2);
        for (int i = 0; i < 2; i++)
        {
            problem.External[i] = 2;
            problem.Load[i] = 1;
        }

        problem.AddPair(0, 1, 3);
        problem.Seal();
        problem.Left = new(10, 8, 12);
        problem.Right = new(10, 8, 12);
        Assert.Equal(0, new ExchangeSelection(new() { Algorithm = SelectionAlgorithm.Plain }).Run(problem));
        Assert.Equal(4, new ExchangeSelection(new()).Run(problem));
    }

    private static PartitioningOptions NewOptions(Random random) =>
        new() { Algorithm = random.Next(2) == 0 ? SelectionAlgorithm.Plain : SelectionAlgorithm.LookAhead };

    private static ExchangeProblem NewProblem(Random random, int count, bool sized = false)
    {
        ExchangeProblem problem = new();
        problem.Reset(count);
        for (int i = 0; i < count; i++)
        {
            problem.Home[i] = random.Next(2);
            problem.External[i] = random.Next(-9, 10);
            problem.Load[i] = sized ? random.Next(1, 6) : 1;
            problem.Cost[i] = random.Next(3) == 0 ? 0.5 : 0;
            for (int j = 0; j < i; j++)
            {
                if (random.Next(3) == 0)
                    problem.AddPair(i, j, random.Next(1, 6));
            }
        }

        problem.Seal();
        problem.Left = new(50, 50 - random.Next(4), 50 + random.Next(4));
        problem.Right = new(50, 50 - random.Next(4), 50 + random.Next(4));
        return problem;
    }

    private static double CostOf(ExchangeProblem problem, ReadOnlySpan<int> sides)
    {
        double cost = 0;
        for (int i = 0; i < problem.Count; i++)
        {
            cost += sides[i] == 0 ? problem.External[i] : 0;
            cost += sides[i] != problem.Home[i] ? problem.Cost[i] : 0;
            for (int e = problem.Starts[i]; e < problem.Starts[i + 1]; e++)
                cost += problem.Others[e] > i && sides[problem.Others[e]] != sides[i] ? problem.Weights[e] : 0;
        }

        return cost;
    }

    private static double BestCost(ExchangeProblem problem)
    {
        double best = double.PositiveInfinity;
        int[] sides = new int[problem.Count];
        for (int mask = 0; mask < 1 << problem.Count; mask++)
        {
            for (int i = 0; i < problem.Count; i++)
                sides[i] = (mask >> i) & 1;
            (double left, double right) = LoadsOf(problem, sides);
            if (problem.Left.Violation(left) + problem.Right.Violation(right) == 0)
                best = Math.Min(best, CostOf(problem, sides));
        }

        return best;
    }

    private static (double Left, double Right) LoadsOf(ExchangeProblem problem, ReadOnlySpan<int> sides)
    {
        double toRight = 0;
        for (int i = 0; i < problem.Count; i++)
            toRight += (sides[i] - problem.Home[i]) * problem.Load[i];
        return (problem.Left.Current - toRight, problem.Right.Current + toRight);
    }
}
