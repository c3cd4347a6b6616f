using ActOp.Partitioning;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>The small numbers by which this silo's edge table knows silos; number 0 is this silo. One thread.</summary>
internal sealed class SiloNumbers
{
    private readonly List<SiloAddress> _silos = [];
    private readonly Dictionary<SiloAddress, int> _numbers = [];

    internal SiloNumbers(SiloAddress self) => NumberOf(self);

    internal int NumberOf(SiloAddress silo)
    {
        if (_numbers.TryGetValue(silo, out var number))
            return number;
        number = _silos.Count;
        _silos.Add(silo);
        _numbers.Add(silo, number);
        return number;
    }

    internal SiloAddress SiloOf(int number) => _silos[number];

    internal CandidatesMessage ToMessage(CandidateSet<GrainId> set)
    {
        var edges = set.Edges;
        var message = new CandidatesMessage
        {
            Silos = [.. _silos],
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
            message.EdgeSilos[i] = edges[i].Silo;
            message.EdgeEpochs[i] = edges[i].Epoch;
            message.EdgeWeights[i] = edges[i].Weight;
            message.EdgeErrors[i] = edges[i].Error;
        }

        return message;
    }

    internal CandidateSet<GrainId> FromMessage(CandidatesMessage message)
    {
        var numbers = Array.ConvertAll(message.Silos, NumberOf);
        var edges = new HeavyEdge<GrainId>[message.EdgeOthers.Length];
        for (var i = 0; i < edges.Length; i++)
        {
            var silo = message.EdgeSilos[i];
            edges[i] = new HeavyEdge<GrainId>(message.EdgeOthers[i], silo < 0 ? Silo.Unknown : numbers[silo], message.EdgeEpochs[i], message.EdgeWeights[i], message.EdgeErrors[i]);
        }

        return new CandidateSet<GrainId>(message.Vertices, message.Sizes, message.Epochs, message.Starts, edges);
    }
}
