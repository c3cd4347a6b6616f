namespace ActOp.Partitioning;

/// <summary>
/// The small numbers by which the edge table and the exchanges of a silo know silos; number 0 is this silo. Only silos that take part have
/// one. The caller frees the number of a silo that has left when nothing refers to it any more.
/// </summary>
/// <remarks>One thread at a time.</remarks>
/// <typeparam name="TSilo">The name of a silo.</typeparam>
public class SiloNumbers<TSilo>
    where TSilo : class
{
    private readonly Func<TSilo, bool> _takesPart;
    private readonly List<TSilo?> _silos = [];
    private readonly Dictionary<TSilo, int> _numbers = [];
    private readonly SortedSet<int> _free = [];

    /// <summary>Gives this silo its number.</summary>
    /// <param name="self">This silo.</param>
    /// <param name="takesPart">Whether a silo takes part, as far as this silo knows.</param>
    public SiloNumbers(TSilo self, Func<TSilo, bool> takesPart)
    {
        ArgumentNullException.ThrowIfNull(self);
        ArgumentNullException.ThrowIfNull(takesPart);
        _takesPart = takesPart;
        Add(self);
    }

    /// <summary>Silos that have a number.</summary>
    public int Count => _numbers.Count;

    /// <summary>One more than the largest number there ever was at one time.</summary>
    public int Bound => _silos.Count;

    /// <summary>The silo's number; <see cref="SiloNumber.Unknown"/> for one that does not take part (any more, or yet).</summary>
    public int NumberOf(TSilo silo) =>
        _numbers.TryGetValue(silo, out var number) ? number : _takesPart(silo) ? Add(silo) : SiloNumber.Unknown;

    /// <summary>The silo with a number.</summary>
    /// <exception cref="ArgumentOutOfRangeException">No silo has the number.</exception>
    public TSilo SiloOf(int number) =>
        _silos[number] ?? throw new ArgumentOutOfRangeException(nameof(number), number, "No silo has this number.");

    /// <summary>The silos with a number that no longer take part.</summary>
    public IReadOnlyList<(TSilo Silo, int Number)> Gone()
    {
        List<(TSilo Silo, int Number)> gone = [];
        for (var number = 1; number < _silos.Count; number++)
        {
            if (_silos[number] is { } silo && !_takesPart(silo))
                gone.Add((silo, number));
        }

        return gone;
    }

    /// <summary>The number may name another silo from now on.</summary>
    /// <exception cref="ArgumentOutOfRangeException">It is the number of this silo, or was never given.</exception>
    public void Free(int number)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(number);
        if (_silos[number] is not { } silo)
            return;
        _silos[number] = null;
        _numbers.Remove(silo);
        _free.Add(number);
        Invariant.Holds(_numbers.Count + _free.Count == _silos.Count);
    }

    private int Add(TSilo silo)
    {
        int number;
        if (_free.Count > 0)
        {
            number = _free.Min;
            _free.Remove(number);
            Invariant.Holds(_silos[number] is null);
            _silos[number] = silo;
        }
        else
        {
            number = _silos.Count;
            _silos.Add(silo);
        }

        _numbers.Add(silo, number);
        Invariant.Holds(_numbers.Count + _free.Count == _silos.Count);
        return number;
    }
}
