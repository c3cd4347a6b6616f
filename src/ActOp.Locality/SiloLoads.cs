using ActOp.Foundation;
using ActOp.Partitioning;
using ActOp.Runtime.Placement;
using Orleans;
using Orleans.Placement.Repartitioning;
using Orleans.Runtime;

namespace ActOp.Locality;

/// <summary>The loads of all silos as known to one silo, on the wire.</summary>
[GenerateSerializer]
internal sealed class LoadsMessage
{
    [Id(0)]
    public SiloAddress[] Silos { get; set; } = [];

    [Id(1)]
    public int[] Loads { get; set; } = [];

    /// <summary>Report number of each silo; the greater is the newer.</summary>
    [Id(2)]
    public long[] Numbers { get; set; } = [];

    /// <summary>What each silo uses; with its load.</summary>
    [Id(3)]
    public SiloUse[] Uses { get; set; } = [];
}

/// <summary>
/// The loads of the other silos as known to this one. Gossip: in each period, each silo sends all known loads to a few others, and the
/// newer report of a silo wins. A silo without reports is removed after <see cref="Lifetime"/>. Pure; one thread.
/// </summary>
/// <param name="self">This silo.</param>
/// <param name="period">The time between two reports of one silo: that of rounds while the graph changes, so that each round knows what the
/// last one did.</param>
internal sealed class SiloLoads(SiloAddress self, TimeSpan period)
{
    /// <summary>
    /// Receivers per period. With three, a report reaches all silos of a small cluster within one period, and a thousand silos within
    /// seven.
    /// </summary>
    internal const int Fanout = 3;

    internal TimeSpan Period => period;

    /// <summary>Ten periods: reports that are lost or late do not count as silence.</summary>
    internal TimeSpan Lifetime => 10 * period;

    private readonly Dictionary<SiloAddress, (int Load, long Number, TimeSpan Heard, SiloUse Use)> _others = [];
    private long _number;
    private long _snapshots;

    /// <summary>Silos whose load is known, this one not counted.</summary>
    internal int Count => _others.Count;

    internal bool TryGet(SiloAddress silo, out int load)
    {
        var known = _others.TryGetValue(silo, out var entry);
        load = entry.Load;
        return known;
    }

    /// <summary>All known loads, including this silo's.</summary>
    internal LoadsMessage Report(int own) => Report(new SiloUse(own, 0, 0, 0, 0));

    /// <summary>All known loads and uses, including this silo's.</summary>
    internal LoadsMessage Report(SiloUse own)
    {
        var message = new LoadsMessage
        {
            Silos = new SiloAddress[_others.Count + 1],
            Loads = new int[_others.Count + 1],
            Numbers = new long[_others.Count + 1],
            Uses = new SiloUse[_others.Count + 1],
        };
        (message.Silos[0], message.Loads[0], message.Numbers[0], message.Uses[0]) = (self, own.Activations, ++_number, own);
        var next = 1;
        foreach (var (silo, entry) in _others)
        {
            (message.Silos[next], message.Loads[next], message.Numbers[next], message.Uses[next]) =
                (silo, entry.Load, entry.Number, entry.Use);
            next++;
        }

        return message;
    }

    internal void Merge(LoadsMessage message, TimeSpan now, Func<SiloAddress, bool> isMember)
    {
        for (var i = 0; i < message.Silos.Length; i++)
        {
            var silo = message.Silos[i];
            if (silo.Equals(self) || (_others.TryGetValue(silo, out var known) ? message.Numbers[i] <= known.Number : !isMember(silo)))
                continue;
            var use = i < message.Uses.Length ? message.Uses[i] : new SiloUse(message.Loads[i], 0, 0, 0, 0);
            _others[silo] = (message.Loads[i], message.Numbers[i], now, use);
        }
    }

    /// <summary>The uses of all silos, for placement.</summary>
    internal SiloUses Uses(SiloUse own) => new(
        [.. _others.Select(static pair => KeyValuePair.Create(pair.Key, pair.Value.Use)), KeyValuePair.Create(self, own)],
        ++_snapshots);

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
    internal SiloLoad Around(int own, ReadOnlySpan<SiloAddress> active, double tolerance, ImbalanceBand? band = null)
    {
        double sum = own;
        var silos = 1;
        foreach (var silo in active)
        {
            if (silo.Equals(self) || !_others.TryGetValue(silo, out var entry))
                continue;
            sum += entry.Load;
            silos++;
        }

        return SiloLoad.Around(own, sum / silos, band?.ToleranceAt(sum / silos) ?? tolerance);
    }

    /// <summary>
    /// A silo far below the mean load, such as one that has just joined, while this one is above it. It is the preferred partner.
    /// </summary>
    internal SiloAddress? EmptiestBelow(SiloLoad own, ReadOnlySpan<SiloAddress> active)
    {
        if (own.Current <= own.Upper)
            return null;
        SiloAddress? emptiest = null;
        var least = own.Lower;
        foreach (var silo in active)
        {
            if (!_others.TryGetValue(silo, out var entry) || entry.Load >= least)
                continue;
            least = entry.Load;
            emptiest = silo;
        }

        return emptiest;
    }

    /// <summary>The receivers of this period, chosen at random.</summary>
    internal List<SiloAddress> Draw(ReadOnlySpan<SiloAddress> active, Func<int, int> random)
    {
        List<SiloAddress> others = [];
        foreach (var silo in active)
        {
            if (!silo.Equals(self))
                others.Add(silo);
        }

        while (others.Count > Fanout)
            others.RemoveAt(random(others.Count));
        return others;
    }
}

/// <summary>The band of loads that a rule of the application allows. Holds nothing; called on the turns of locality.</summary>
/// <remarks>A rule that throws is logged a few times, and the tolerance of the options holds for this time.</remarks>
internal sealed class ImbalanceBand(IImbalanceToleranceRule rule, Action<Exception> onFailure)
{
    private readonly FailureCount _failures = new();

    /// <summary>Half the width of the band, as a share of the mean, so that two silos in it differ as much as the rule allows.</summary>
    internal double? ToleranceAt(double mean)
    {
        if (mean <= 0)
            return null;
        try
        {
            // More than the mean on either side is no limit at all.
            var (tolerated, tooMuch) = (0L, (long)Math.Min(2 * Math.Ceiling(mean), uint.MaxValue) + 1);
            while (tooMuch - tolerated > 1)
            {
                var middle = (tolerated + tooMuch) / 2;
                if (rule.IsSatisfiedBy((uint)Math.Min(middle, uint.MaxValue)))
                    tolerated = middle;
                else
                    tooMuch = middle;
            }

            return Math.Min(tolerated / 2.0 / mean, 1);
        }
        catch (Exception exception)
        {
            if (_failures.IsTold(out _))
                onFailure(exception);
            return null;
        }
    }
}
