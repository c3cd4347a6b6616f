using ActOp.Partitioning;

namespace ActOp.Orleans.Locality;

/// <summary>
/// The numbers of the silos that take part, and the candidates that they send each other, which name silos and not their numbers. Belongs
/// to the turns of locality.
/// </summary>
internal sealed class SiloNumbers(SiloAddress self, Func<SiloAddress, bool> takesPart) : SiloNumbers<SiloAddress>(self, takesPart)
{
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
}
