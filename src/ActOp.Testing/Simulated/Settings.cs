using ActOp.Configuration;
using Orleans.Runtime;

namespace ActOp.Testing.Simulated;

/// <summary>What every node of a run is configured with, drawn once, up to the ends of what is allowed.</summary>
internal sealed record Settings
{
    internal required int Silos { get; init; }

    internal required int Clients { get; init; }

    internal required TimeSpan ResponseTimeout { get; init; }

    internal required TimeSpan ProbeTimeout { get; init; }

    /// <summary>Infinite for no lease.</summary>
    internal required TimeSpan Lease { get; init; }

    internal required TimeSpan CollectionAge { get; init; }

    internal required int MailboxLimit { get; init; }

    internal required int MaxForwards { get; init; }

    internal required int LinksPerPeer { get; init; }

    internal required int Pollers { get; init; }

    internal required PlacementStrategy Placement { get; init; }

    internal required bool Locality { get; init; }

    internal required MigrationMode Migration { get; init; }

    /// <summary>Activations are spread evenly over the silos, in cycles of this time; null for no rebalancer.</summary>
    internal required TimeSpan? Rebalancing { get; init; }

    internal required Pace Pace { get; init; }

    internal required Wires Wires { get; init; }

    public override string ToString() =>
        Silos + " silos, " + Clients + " clients, response " + ResponseTimeout + ", probe " + ProbeTimeout + ", lease " +
            (HasLease ? Lease : "none") + ", age " + CollectionAge + ", mailbox " + MailboxLimit
        + ", forwards " + MaxForwards + ", links " + LinksPerPeer + ", pollers " + Pollers + ", " + Placement.GetType().Name +
            ", locality " + (Locality ? Migration : "off") + ", rebalancing " + (Rebalancing?.ToString() ?? "off")
        + ", " + Pace + ", " + Wires;

    internal bool HasLease => Lease != Timeout.InfiniteTimeSpan;

    internal static Settings Draw(Dice dice) => new()
    {
        Silos = 2 + dice.Below(4),
        Clients = dice.Below(3),
        ResponseTimeout = TimeSpan.FromSeconds(dice.Pick<int>([1, 2, 5, 10])),
        ProbeTimeout = TimeSpan.FromSeconds(dice.Pick<double>([0.2, 0.5, 1])),
        Lease = dice.Chance(0.5) ? Timeout.InfiniteTimeSpan : TimeSpan.FromSeconds(dice.Between(5, 20)),
        CollectionAge = TimeSpan.FromSeconds(dice.Pick<int>([2, 10, 60, 900])),
        MailboxLimit = dice.Pick<int>([3, 100, 100_000]),
        MaxForwards = dice.Below(4),
        LinksPerPeer = 1 + dice.Below(3),
        Pollers = 1 + dice.Below(3),
        Placement = dice.Pick<PlacementStrategy>([new RandomPlacement(), new HashBasedPlacement(), new PreferLocalPlacement(),
            new ActivationCountBasedPlacement(), new ResourceOptimizedPlacement()]),
        Locality = dice.Chance(0.5),
        Migration = dice.Chance(0.7) ? MigrationMode.Live : MigrationMode.Opportunistic,
        Pace = new Pace(1 + dice.Below(4), dice.Pick<long>([1, 5, 20, 100]) * Pump.Microsecond, dice.Pick<double>([0, 0, 0.0001, 0.001]),
            dice.Chance(0.5)),
        Wires = new Wires(
            dice.Between(20, 500) * Pump.Microsecond,
            dice.Pick<long>([10, 100, 2000]) * Pump.Microsecond,
            dice.Pick<int>([2 << 10, 16 << 10, 256 << 10]),
            dice.Pick<double>([0, 0.1, 0.5]),
            dice.Pick<long>([0, 0, 100_000_000, 1_000_000])),
        Rebalancing = dice.Chance(0.3) ? TimeSpan.FromSeconds(dice.Pick<double>([0.2, 1, 5])) : null,
    };
}
