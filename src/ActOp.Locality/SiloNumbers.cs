using ActOp.Partitioning;
using Orleans.Runtime;

namespace ActOp.Locality;

/// <summary>
/// The small numbers by which this silo's edge table and exchanges know silos; number 0 is this silo. Only members have numbers. The caller
/// frees the number of a silo that has left when nothing refers to it any more. One thread.
/// </summary>
internal sealed class SiloNumbers
{
    private readonly Func<SiloAddress, bool> _isMember;
    private readonly List<SiloAddress?> _silos = [];
    private readonly Dictionary<SiloAddress, int> _numbers = [];
    private readonly SortedSet<int> _free = [];

    /// <param name="self">This silo.</param>
    /// <param name="isMember">Whether a silo may run grains, as far as this silo knows.</param>
    internal SiloNumbers(SiloAddress self, Func<SiloAddress, bool> isMember)
    {
        _isMember = isMember;
        Add(self);
    }

    /// <summary>Silos that have a number.</summary>
    internal int Count => _numbers.Count;

    /// <summary>One more than the largest number there ever was at one time.</summary>
    internal int Bound => _silos.Count;

    /// <summary>The silo's number; unknown for one that is no member (any more, or yet).</summary>
    internal int NumberOf(SiloAddress silo) =>
        _numbers.TryGetValue(silo, out var number) ? number : _isMember(silo) ? Add(silo) : SiloNumber.Unknown;

    internal SiloAddress SiloOf(int number) =>
        _silos[number] ?? throw new ArgumentOutOfRangeException(nameof(number), number, "No silo has this number.");

    /// <summary>The silos with a number that are no longer members.</summary>
    internal List<(SiloAddress Silo, int Number)> Gone()
    {
        List<(SiloAddress Silo, int Number)> gone = [];
        for (var number = 1; number < _silos.Count; number++)
        {
            if (_silos[number] is { } silo && !_isMember(silo))
                gone.Add((silo, number));
        }

        return gone;
    }

    /// <summary>The number may name another silo from now on.</summary>
    internal void Free(int number)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(number);
        if (_silos[number] is not { } silo)
            return;
        _silos[number] = null;
        _numbers.Remove(silo);
        _free.Add(number);
        Invariant.Holds(_numbers.Count + _free.Count == _silos.Count);
    }

    /// <summary>The message names the silos that its edges lead to, and no others.</summary>
    internal CandidatesMessage ToMessage(CandidateSet<GrainId> set)
    {
        var edges = set.Edges;
        var indexes = new int[_silos.Count];
        var silos = new List<SiloAddress>();
        var message = new CandidatesMessage
        {
            Vertices = set.Vertices,
            Sizes = set.Sizes,
            Epochs = set.Epochs,
            Starts = set.Starts,
            EdgeOthers = new GrainId[edges.Length],
            EdgeSilos = new int[edges.Length],
            EdgeEpochs = new long[edges.Length],
            EdgeWeights = new double[edges.Length],
            EdgeErrors = new double[edges.Length],
        };
        for (var i = 0; i < edges.Length; i++)
        {
            message.EdgeOthers[i] = edges[i].Other;
            message.EdgeSilos[i] = IndexOf(edges[i].Silo);
            message.EdgeEpochs[i] = edges[i].Epoch;
            message.EdgeWeights[i] = edges[i].Weight;
            message.EdgeErrors[i] = edges[i].Error;
        }

        message.Silos = [.. silos];
        return message;

        // Indexes are stored plus one, so that zero means none.
        int IndexOf(int number)
        {
            if (number < 0)
                return SiloNumber.Unknown;
            if (indexes[number] == 0)
            {
                silos.Add(SiloOf(number));
                indexes[number] = silos.Count;
            }

            return indexes[number] - 1;
        }
    }

    internal CandidateSet<GrainId> FromMessage(CandidatesMessage message)
    {
        var numbers = Array.ConvertAll(message.Silos, NumberOf);
        var edges = new HeavyEdge<GrainId>[message.EdgeOthers.Length];
        for (var i = 0; i < edges.Length; i++)
        {
            var silo = message.EdgeSilos[i];
            edges[i] = new HeavyEdge<GrainId>(message.EdgeOthers[i], silo < 0
                ? SiloNumber.Unknown
                : numbers[silo], message.EdgeEpochs[i], message.EdgeWeights[i], message.EdgeErrors[i]);
        }

        return new CandidateSet<GrainId>(message.Vertices, message.Sizes, message.Epochs, message.Starts, edges);
    }

    private int Add(SiloAddress silo)
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
