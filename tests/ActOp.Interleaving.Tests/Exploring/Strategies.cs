namespace ActOp.Interleaving.Tests.Exploring;

/// <summary>Chooses the next step of a schedule.</summary>
public interface IStrategy
{
    /// <summary>Begins the next schedule. False when there is none.</summary>
    bool BeginSchedule();

    /// <summary>
    /// Chooses one of the options: threads, first the running one if it can go on; from <paramref name="threads"/> on, stores that wait
    /// in buffers.
    /// </summary>
    int Choose(IReadOnlyList<int> options, int threads, bool canGoOn, int step);
}

/// <summary>
/// All schedules with at most so many preemptions, those with few and late ones first. A thread that waits or ends costs none.
/// </summary>
public sealed class DepthFirst(int preemptions) : IStrategy
{
    private readonly List<(int Chosen, int Count)> _path = [];
    private bool _hasBegun;
    private int _depth;
    private int _spent;

    public bool BeginSchedule()
    {
        (_depth, _spent) = (0, 0);
        if (!_hasBegun)
            return _hasBegun = true;
        while (_path.Count > 0 && _path[^1].Chosen + 1 >= _path[^1].Count)
            _path.RemoveAt(_path.Count - 1);
        if (_path.Count == 0)
            return false;
        _path[^1] = (_path[^1].Chosen + 1, _path[^1].Count);
        return true;
    }

    public int Choose(IReadOnlyList<int> options, int threads, bool canGoOn, int step)
    {
        // Without preemptions left only the running thread and the stores are options.
        var isBound = canGoOn && _spent >= preemptions;
        var count = isBound ? 1 + options.Count - threads : options.Count;
        if (count == 1)
            return 0;
        if (_depth == _path.Count)
            _path.Add((0, count));
        if (_path[_depth].Count != count)
        {
            throw new InvalidOperationException(
                "The model is not deterministic: " + _path[_depth].Count + " options became " + count + ".");
        }

        var chosen = _path[_depth++].Chosen;
        if (isBound)
            return chosen == 0 ? 0 : threads + chosen - 1;
        if (canGoOn && chosen > 0 && chosen < threads)
            _spent++;
        return chosen;
    }
}

/// <summary>Any option, each as likely.</summary>
public sealed class RandomWalk(int seed) : IStrategy
{
    private readonly Random _random = new(seed);

    public bool BeginSchedule() => true;

    public int Choose(IReadOnlyList<int> options, int threads, bool canGoOn, int step) => _random.Next(options.Count);
}

/// <summary>
/// Probabilistic concurrency testing (Burckhardt et al., 2010): threads have random priorities, the highest runs; at depth - 1 random
/// steps the running one drops to the lowest.
/// </summary>
public sealed class Priorities(int depth, int seed) : IStrategy
{
    private readonly Random _random = new(seed);
    private readonly Dictionary<int, double> _priorities = [];
    private readonly HashSet<int> _changes = [];
    private int _longest = 50;
    private double _lowest;

    public bool BeginSchedule()
    {
        _priorities.Clear();
        _changes.Clear();
        _lowest = 0;
        for (var change = 1; change < depth; change++)
            _changes.Add(_random.Next(_longest));
        return true;
    }

    public int Choose(IReadOnlyList<int> options, int threads, bool canGoOn, int step)
    {
        _longest = Math.Max(_longest, step);
        if (canGoOn && _changes.RemoveWhere(change => change <= step) > 0)
            _priorities[options[0]] = --_lowest;
        // A store leaves its buffer at a random time.
        if (options.Count > threads && _random.Next(4) == 0)
            return threads + _random.Next(options.Count - threads);
        var best = 0;
        for (var option = 0; option < threads; option++)
        {
            if (Of(options[option]) > Of(options[best]))
                best = option;
        }

        return best;
    }

    private double Of(int thread)
    {
        if (!_priorities.TryGetValue(thread, out var priority))
            _priorities[thread] = priority = _random.NextDouble();
        return priority;
    }
}
