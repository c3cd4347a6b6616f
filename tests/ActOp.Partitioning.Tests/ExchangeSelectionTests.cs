namespace ActOp.Partitioning.Tests;

public class ExchangeSelectionTests
{
    [Fact]
    public void Scores_kept_up_to_date_equal_scores_from_scratch() => Seeds.ForEach(300, random =>
    {
        var problem = Problems.NewProblem(random, random.Next(1, 25));
        ExchangeSelection selection = new(NewOptions(random));
        selection.Run(problem);
        for (var i = 0; i < problem.Count; i++)
            Assert.Equal(problem.Score(i, selection.Sides), selection.Scores[i], 6);
    });

    [Fact]
    public void The_gain_is_what_the_cut_falls_by_and_never_beats_the_best_of_all_choices() => Seeds.ForEach(200, random =>
    {
        var problem = Problems.NewProblem(random, random.Next(1, 11));
        ExchangeSelection selection = new(NewOptions(random));
        var gain = selection.Run(problem);
        var start = Problems.CostOf(problem, problem.Home);
        Assert.Equal(start - Problems.CostOf(problem, selection.Sides), gain, 6);
        Assert.True(gain >= 0);
        Assert.True(gain <= start - Problems.BestCost(problem) + 1e-6);
    });

    [Fact]
    public void Loads_stay_in_their_bands() => Seeds.ForEach(300, random =>
    {
        var options = NewOptions(random) with { Balance = BalanceMeasure.Size };
        var problem = Problems.NewProblem(random, random.Next(1, 25), sized: true);
        ExchangeSelection selection = new(options);
        selection.Run(problem);
        (var left, var right) = Problems.LoadsOf(problem, selection.Sides);
        Assert.Equal(0, problem.Left.Violation(left) + problem.Right.Violation(right), 9);
    });

    [Fact]
    public void Look_ahead_passes_a_hill_that_stops_the_plain_algorithm()
    {
        // Two vertices that belong to the other side but hold on to each other.
        ExchangeProblem problem = new();
        problem.Reset(2);
        for (var i = 0; i < 2; i++)
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
}
