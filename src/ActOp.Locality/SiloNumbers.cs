using ActOp.Partitioning;
using Orleans.Runtime;

namespace ActOp.Locality;

/// <summary>The numbers of the members, and the candidates that silos send each other, which name silos and not their numbers.</summary>
internal sealed class SiloNumbers(SiloAddress self, Func<SiloAddress, bool> isMember) : SiloNumbers<SiloAddress>(self, isMember)
{
    /// <summary>The message names the silos that its edges lead to, and no others.</summary>
    internal CandidatesMessage ToMessage(CandidateSet<GrainId> set)
    {
        var edges = set.Edges;
        var indexes = new int[Bound];
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
}
