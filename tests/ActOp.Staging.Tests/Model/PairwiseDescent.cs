using ActOp.Staging.Model;

namespace ActOp.Staging.Tests.Model;

/// <summary>
/// Minimises a convex function under one linear limit: single coordinates, then pairs along the limit, each by golden section, until
/// nothing moves.
/// </summary>
internal sealed class PairwiseDescent(Demands demands, ThreadModel model)
{
    private const int Rounds = 400;
    private const int Sections = 80;
    private static readonly double Golden = (Math.Sqrt(5) - 1) / 2;

    private readonly double[] _threads = Start(demands);

    internal double[] Run()
    {
        var value = Value();
        for (var round = 0; round < Rounds; round++)
        {
            for (var i = 0; i < _threads.Length; i++)
            {
                Along(i, -1);
                for (var j = 0; j < _threads.Length; j++)
                {
                    if (j != i)
                        Along(i, j);
                }
            }

            var next = Value();
            if (value - next <= 1e-9 * value)
                break;
            value = next;
        }

        return _threads;
    }

    private static double[] Start(Demands demands)
    {
        // Stable, and half of what is left of the processors unused.
        var used = demands.Stages.Sum(static stage => stage.Processors);
        var factor = 1 + ((demands.Processors - used) / used / 2);
        return [.. demands.Stages.Select(stage => stage.BusyThreads * factor)];
    }

    /// <summary>Moves stage i, and stage j so that the processors used stay the same.</summary>
    private void Along(int i, int j)
    {
        var (from, other) = (_threads[i], j < 0 ? 0 : _threads[j]);
        var ratio = j < 0 ? 0 : demands.Stages[i].ProcessorShare / demands.Stages[j].ProcessorShare;
        var low = demands.Stages[i].BusyThreads;
        var high = j < 0
            ? from + (Math.Max(0, demands.Processors - Used()) / demands.Stages[i].ProcessorShare)
            : from + ((other - demands.Stages[j].BusyThreads) / ratio);
        double At(double threads)
        {
            _threads[i] = threads;
            if (j >= 0)
                _threads[j] = other - ((threads - from) * ratio);
            return Value();
        }

        var before = At(from);
        for (var section = 0; section < Sections; section++)
        {
            var (left, right) = (high - (Golden * (high - low)), low + (Golden * (high - low)));
            if (At(left) <= At(right))
                high = right;
            else
                low = left;
        }

        if (At((low + high) / 2) >= before)
            At(from);
    }

    private double Used() => _threads.Select((count, i) => count * demands.Stages[i].ProcessorShare).Sum();

    private double Value() => model.Objective(demands.Stages, _threads);
}
