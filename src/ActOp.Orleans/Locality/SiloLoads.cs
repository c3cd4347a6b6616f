using ActOp.Partitioning;

namespace ActOp.Orleans.Locality;

/// <summary>
/// The numbers of activations of the other silos as known to this one. Gossip: in each period a silo sends all that it knows to a few
/// others, and the newer report of a silo wins. A silo without reports is removed after <see cref="Lifetime"/>. Pure; belongs to the turns
/// of locality.
/// </summary>
/// <param name="self">This silo.</param>
/// <param name="period">The time between two reports of one silo.</param>
internal sealed class SiloLoads(SiloAddress self, TimeSpan period)
{
    /// <summary>Receivers per period: a report reaches all silos of a small cluster in one period, and a thousand in seven.</summary>
    private const int Fanout = 3;

    private readonly Dictionary<SiloAddress, (int Load, long Number, TimeSpan Heard)> _others = [];
    private long _number;

    internal TimeSpan Period => period;

    /// <summary>Ten periods: reports that are lost or late do not count as silence.</summary>
    internal TimeSpan Lifetime => 10 * period;

    internal LoadsMessage Report(int own)
    {
        var message = new LoadsMessage
        {
            Silos = new SiloAddress[_others.Count + 1],
            Loads = new int[_others.Count + 1],
            Numbers = new long[_others.Count + 1],
        };
        (message.Silos[0], message.Loads[0], message.Numbers[0]) = (self, own, ++_number);
        var next = 1;
        foreach (var (silo, entry) in _others)
        {
            (message.Silos[next], message.Loads[next], message.Numbers[next]) = (silo, entry.Load, entry.Number);
            next++;
        }

        return message;
    }

    /// <summary>Takes the newer reports of silos that take part.</summary>
    /// <exception cref="ArgumentException">The arrays do not fit together.</exception>
    internal void Merge(LoadsMessage message, TimeSpan now, Func<SiloAddress, bool> takesPart)
    {
        if (message.Loads.Length != message.Silos.Length || message.Numbers.Length != message.Silos.Length)
            throw new ArgumentException("Each silo needs a load and a number.");
        for (var i = 0; i < message.Silos.Length; i++)
        {
            var silo = message.Silos[i];
            if (silo.Equals(self) || message.Loads[i] < 0 || !takesPart(silo)
                || (_others.TryGetValue(silo, out var known) && message.Numbers[i] <= known.Number))
            {
                continue;
            }

            _others[silo] = (message.Loads[i], message.Numbers[i], now);
        }
    }

    internal void Forget(SiloAddress silo) => _others.Remove(silo);

    /// <summary>Removes the loads of silos without a report for <see cref="Lifetime"/>.</summary>
    internal void Expire(TimeSpan now)
    {
        foreach (var (silo, entry) in _others)
        {
            if (now - entry.Heard > Lifetime)
                _others.Remove(silo);
        }
    }

    /// <summary>This silo's load within the band around the mean of those that are known.</summary>
    internal SiloLoad Around(int own, double tolerance)
    {
        var mean = (own + _others.Values.Sum(static entry => (double)entry.Load)) / (_others.Count + 1);
        return SiloLoad.Around(own, mean, tolerance);
    }

    /// <summary>
    /// A silo far below the mean load, such as one that has just joined, while this one is above it. It is the preferred partner.
    /// </summary>
    internal SiloAddress? EmptiestBelow(SiloLoad own)
    {
        if (own.Current <= own.Upper || _others.Count == 0)
            return null;
        var (silo, entry) = _others.MinBy(static pair => pair.Value.Load);
        return entry.Load < own.Lower ? silo : null;
    }

    /// <summary>The receivers of this period, chosen at random.</summary>
    internal static List<SiloAddress> Draw(IEnumerable<SiloAddress> silos, Random random)
    {
        List<SiloAddress> drawn = [.. silos];
        while (drawn.Count > Fanout)
            drawn.RemoveAt(random.Next(drawn.Count));
        return drawn;
    }
}
