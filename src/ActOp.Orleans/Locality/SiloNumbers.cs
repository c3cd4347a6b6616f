using ActOp.Partitioning;

namespace ActOp.Orleans.Locality;

/// <summary>
/// The small numbers by which this silo's edge table and exchanges know silos; number 0 is this silo. Only silos that take part have one.
/// The caller frees the number of a silo that has left when nothing refers to it any more. Belongs to the turns of locality.
/// </summary>
internal sealed class SiloNumbers
{
    private readonly Func<SiloAddress, bool> _takesPart;
    private readonly List<SiloAddress?> _silos = [];
    private readonly Dictionary<SiloAddress, int> _numbers = [];
    private readonly SortedSet<int> _free = [];

    internal SiloNumbers(SiloAddress self, Func<SiloAddress, bool> takesPart)
    {
        _takesPart = takesPart;
        Add(self);
    }

    /// <summary>The silo's number; unknown for one that does not take part (any more, or yet).</summary>
    internal int NumberOf(SiloAddress silo) =>
        _numbers.TryGetValue(silo, out var number) ? number : _takesPart(silo) ? Add(silo) : SiloNumber.Unknown;

    internal SiloAddress SiloOf(int number) =>
        _silos[number] ?? throw new ArgumentOutOfRangeException(nameof(number), number, "No silo has this number.");

    /// <summary>The silos with a number that no longer take part.</summary>
    internal List<(SiloAddress Silo, int Number)> Gone()
    {
        List<(SiloAddress Silo, int Number)> gone = [];
        for (var number = 1; number < _silos.Count; number++)
        {
            if (_silos[number] is { } silo && !_takesPart(silo))
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
    }

    /// <summary>The message names the silos that its edges lead to, and no others.</summary>
    internal CandidatesMessage ToMessage(CandidateSet<GrainId> set)
    {
        Dictionary<int, int> indexes = [];
        List<SiloAddress> silos = [];
        var edges = set.Edges;
        return new CandidatesMessage
        {
            Vertices = set.Vertices,
            Sizes = set.Sizes,
            Epochs = set.Epochs,
            Starts = set.Starts,
            EdgeOthers = Array.ConvertAll(edges, static edge => edge.Other),
            EdgeSilos = Array.ConvertAll(edges, edge => IndexOf(edge.Silo)),
            EdgeEpochs = Array.ConvertAll(edges, static edge => edge.Epoch),
            EdgeWeights = Array.ConvertAll(edges, static edge => edge.Weight),
            EdgeErrors = Array.ConvertAll(edges, static edge => edge.Error),
            Silos = [.. silos],
        };

        int IndexOf(int number)
        {
            if (number < 0)
                return SiloNumber.Unknown;
            if (!indexes.TryGetValue(number, out var index))
            {
                indexes.Add(number, index = silos.Count);
                silos.Add(SiloOf(number));
            }

            return index;
        }
    }

    /// <summary>The candidates of another silo.</summary>
    /// <exception cref="ArgumentException">The arrays do not fit together, or a number is none.</exception>
    internal CandidateSet<GrainId> FromMessage(CandidatesMessage message)
    {
        var count = message.EdgeOthers.Length;
        if (message.EdgeSilos.Length != count || message.EdgeEpochs.Length != count
            || message.EdgeWeights.Length != count || message.EdgeErrors.Length != count)
        {
            throw new ArgumentException("Each edge needs a silo, an epoch, a weight and an error.");
        }

        if (!message.Sizes.All(static size => double.IsFinite(size) && size >= 0))
            throw new ArgumentException("A size is finite and not negative.");
        var numbers = Array.ConvertAll(message.Silos, NumberOf);
        var edges = new HeavyEdge<GrainId>[count];
        for (var i = 0; i < count; i++)
        {
            var (index, weight, error) = (message.EdgeSilos[i], message.EdgeWeights[i], message.EdgeErrors[i]);
            if (index < -1 || index >= numbers.Length || !double.IsFinite(weight) || !(error >= 0) || error > weight)
                throw new ArgumentException("An edge has a silo of the list, and a weight that is not below its error.");
            edges[i] = new HeavyEdge<GrainId>(
                message.EdgeOthers[i], index < 0 ? SiloNumber.Unknown : numbers[index], message.EdgeEpochs[i], weight, error);
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
            _silos[number] = silo;
        }
        else
        {
            number = _silos.Count;
            _silos.Add(silo);
        }

        _numbers.Add(silo, number);
        return number;
    }
}
