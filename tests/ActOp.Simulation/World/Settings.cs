using ActOp.Configuration;

namespace ActOp.Simulation.World;

/// <summary>What a run is about: everything, or one of the things that come together too rarely by chance.</summary>
internal enum Theme
{
    /// <summary>Whatever the seed draws.</summary>
    Any,

    /// <summary>Silos that are cut off from the others and the table for longer than their lease.</summary>
    Lease,

    /// <summary>Silos that crash while many grains move and begin slowly.</summary>
    Moves,

    /// <summary>Grains that write states to an unreliable storage while silos end and grains move.</summary>
    States,

    /// <summary>Calls that are cancelled at any moment while their grains start, move and end.</summary>
    Tokens,

    /// <summary>Nothing goes wrong, but slow links are full of large arguments.</summary>
    Bulk,

    /// <summary>Producers and consumers of streams, with queues in memory and in a database.</summary>
    Streams,

    /// <summary>Grains with reminders, and a table of reminders that fails.</summary>
    Reminders,

    /// <summary>As <see cref="States"/>, in files on a disk that fails, and that loses what was not flushed at a loss of power.</summary>
    Files,

    /// <summary>Enumerations whose consumers end at any moment while their grains move and end.</summary>
    Items,
}

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

    /// <summary>The settings that suit a theme; the same for no theme.</summary>
    internal Settings For(Theme theme, Dice dice) => theme switch
    {
        Theme.Lease => this with
        {
            Silos = 3 + dice.Below(3),
            ResponseTimeout = TimeSpan.FromSeconds(2),
            ProbeTimeout = TimeSpan.FromSeconds(0.2),
            Lease = TimeSpan.FromSeconds(dice.Between(8, 15)),
            CollectionAge = TimeSpan.FromSeconds(900),
            MailboxLimit = 100_000,
        },
        Theme.Moves => this with
        {
            Silos = 3 + dice.Below(3),
            Lease = Timeout.InfiniteTimeSpan,
            ProbeTimeout = TimeSpan.FromSeconds(0.2),
            CollectionAge = TimeSpan.FromSeconds(900),
        },
        Theme.States or Theme.Files => this with
        {
            Silos = 2 + dice.Below(3),
            ResponseTimeout = TimeSpan.FromSeconds(5),
            MailboxLimit = 100_000,
            CollectionAge = TimeSpan.FromSeconds(dice.Pick<int>([2, 10, 900])),
        },
        // Grains that are enumerated are mostly idle, and so what the runtime would like to move.
        Theme.Items => For(Theme.Tokens, dice) with
        {
            Rebalancing = dice.Chance(0.6) ? TimeSpan.FromSeconds(dice.Pick<double>([0.2, 1])) : null,
        },
        Theme.Tokens => this with
        {
            Silos = 2 + dice.Below(3),
            Clients = 1 + dice.Below(2),
            ResponseTimeout = TimeSpan.FromSeconds(5),
            MailboxLimit = 100_000,
            CollectionAge = TimeSpan.FromSeconds(dice.Pick<int>([2, 10, 900])),
        },
        Theme.Bulk => this with
        {
            Silos = 2 + dice.Below(3),
            Clients = 1,
            // What is queued on a link may take a minute.
            ResponseTimeout = TimeSpan.FromMinutes(3),
            MailboxLimit = 100_000,
            CollectionAge = TimeSpan.FromSeconds(900),
            Wires = Wires with { BytesPerSecond = 1_000_000, Buffer = dice.Pick<int>([16 << 10, 256 << 10]) },
        },
        Theme.Streams or Theme.Reminders => this with
        {
            Silos = 2 + dice.Below(3),
            Clients = theme == Theme.Streams ? 1 + dice.Below(2) : dice.Below(2),
            // Without a lease, two activations of whatever keeps subscriptions would be right.
            Lease = TimeSpan.FromSeconds(dice.Between(5, 15)),
            ResponseTimeout = TimeSpan.FromSeconds(dice.Pick<int>(theme == Theme.Streams ? [5, 5, 30] : [5])),
            MailboxLimit = 100_000,
            CollectionAge = TimeSpan.FromSeconds(dice.Pick<int>([2, 10, 900])),
        },
        _ => this,
    };

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
