namespace ActOp.Partitioning.Tests;

/// <summary>Random problems of an exchange, and what choices of sides are worth, computed the slow way.</summary>
internal static class Problems
{
    public static ExchangeProblem NewProblem(Random random, int count, bool sized = false)
    {
        ExchangeProblem problem = new();
        problem.Reset(count);
        for (var i = 0; i < count; i++)
        {
            problem.Home[i] = random.Next(2);
            problem.External[i] = random.Next(-9, 10);
            problem.Load[i] = sized ? random.Next(1, 6) : 1;
            problem.Cost[i] = random.Next(3) == 0 ? 0.5 : 0;
            for (var j = 0; j < i; j++)
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

    /// <summary>A choice of sides that has nothing to do with the homes.</summary>
    public static int[] NewSides(Random random, int count)
    {
        var sides = new int[count];
        for (var i = 0; i < count; i++)
            sides[i] = random.Next(2);
        return sides;
    }

    public static double CostOf(ExchangeProblem problem, ReadOnlySpan<int> sides)
    {
        double cost = 0;
        for (var i = 0; i < problem.Count; i++)
        {
            cost += sides[i] == 0 ? problem.External[i] : 0;
            cost += sides[i] != problem.Home[i] ? problem.Cost[i] : 0;
            for (var e = problem.Starts[i]; e < problem.Starts[i + 1]; e++)
                cost += problem.Others[e] > i && sides[problem.Others[e]] != sides[i] ? problem.Weights[e] : 0;
        }

        return cost;
    }

    public static double BestCost(ExchangeProblem problem)
    {
        var best = double.PositiveInfinity;
        var sides = new int[problem.Count];
        for (var mask = 0; mask < 1 << problem.Count; mask++)
        {
            for (var i = 0; i < problem.Count; i++)
                sides[i] = (mask >> i) & 1;
            (var left, var right) = LoadsOf(problem, sides);
            if (problem.Left.Violation(left) + problem.Right.Violation(right) == 0)
                best = Math.Min(best, CostOf(problem, sides));
        }

        return best;
    }

    public static (double Left, double Right) LoadsOf(ExchangeProblem problem, ReadOnlySpan<int> sides)
    {
        double toRight = 0;
        for (var i = 0; i < problem.Count; i++)
            toRight += (sides[i] - problem.Home[i]) * problem.Load[i];
        return (problem.Left.Current - toRight, problem.Right.Current + toRight);
    }
}
