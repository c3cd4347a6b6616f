using Orleans.Runtime;

namespace ActOp.Runtime.GrainServices;

/// <summary>The active silos of a view on the ring of hashes: each owns the hashes up to its own, from that of the one before.</summary>
/// <remarks>Immutable; any thread.</remarks>
internal sealed class HashRing
{
    private readonly (uint Hash, SiloAddress Silo)[] _points;

    internal HashRing(IEnumerable<SiloAddress> silos) => _points =
    [
        .. silos.Select(static silo => (Hash: (uint)silo.GetConsistentHashCode(), Silo: silo))
            .OrderBy(static point => point.Hash).ThenBy(static point => point.Silo.ToParsableString(), StringComparer.Ordinal),
    ];

    /// <summary>The silo that owns the hash; null in an empty ring.</summary>
    internal SiloAddress? OwnerOf(uint hash)
    {
        foreach (var point in _points)
        {
            if (hash <= point.Hash)
                return point.Silo;
        }

        return _points.Length == 0 ? null : _points[0].Silo;
    }

    /// <summary>The hashes of a silo; null if it is not in the ring.</summary>
    internal Range? RangeOf(SiloAddress silo)
    {
        var index = Array.FindIndex(_points, point => point.Silo.Equals(silo));
        return index < 0 ? null : new Range(_points[(index + _points.Length - 1) % _points.Length].Hash, _points[index].Hash);
    }

    /// <summary>The hashes after <paramref name="Begin"/> up to <paramref name="End"/>; all if they are equal.</summary>
    internal sealed record Range(uint Begin, uint End) : ISingleRange
    {
        public bool InRange(uint value) => Begin < End ? value > Begin && value <= End : value > Begin || value <= End;
    }
}
