using ActOp.Testing.Simulated;

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

/// <summary>What a theme makes of the settings and the faults of a run.</summary>
internal static class ThemeRules
{
    /// <summary>The settings that suit a theme; the same for no theme.</summary>
    internal static Settings For(this Settings settings, Theme theme, Dice dice) => theme switch
    {
        Theme.Lease => settings with
        {
            Silos = 3 + dice.Below(3),
            ResponseTimeout = TimeSpan.FromSeconds(2),
            ProbeTimeout = TimeSpan.FromSeconds(0.2),
            Lease = TimeSpan.FromSeconds(dice.Between(8, 15)),
            CollectionAge = TimeSpan.FromSeconds(900),
            MailboxLimit = 100_000,
        },
        Theme.Moves => settings with
        {
            Silos = 3 + dice.Below(3),
            Lease = Timeout.InfiniteTimeSpan,
            ProbeTimeout = TimeSpan.FromSeconds(0.2),
            CollectionAge = TimeSpan.FromSeconds(900),
        },
        Theme.States or Theme.Files => settings with
        {
            Silos = 2 + dice.Below(3),
            ResponseTimeout = TimeSpan.FromSeconds(5),
            MailboxLimit = 100_000,
            CollectionAge = TimeSpan.FromSeconds(dice.Pick<int>([2, 10, 900])),
        },
        // Grains that are enumerated are mostly idle, and so what the runtime would like to move.
        Theme.Items => settings.For(Theme.Tokens, dice) with
        {
            Rebalancing = dice.Chance(0.6) ? TimeSpan.FromSeconds(dice.Pick<double>([0.2, 1])) : null,
        },
        Theme.Tokens => settings with
        {
            Silos = 2 + dice.Below(3),
            Clients = 1 + dice.Below(2),
            ResponseTimeout = TimeSpan.FromSeconds(5),
            MailboxLimit = 100_000,
            CollectionAge = TimeSpan.FromSeconds(dice.Pick<int>([2, 10, 900])),
        },
        Theme.Bulk => settings with
        {
            Silos = 2 + dice.Below(3),
            Clients = 1,
            // What is queued on a link may take a minute.
            ResponseTimeout = TimeSpan.FromMinutes(3),
            MailboxLimit = 100_000,
            CollectionAge = TimeSpan.FromSeconds(900),
            Wires = settings.Wires with { BytesPerSecond = 1_000_000, Buffer = dice.Pick<int>([16 << 10, 256 << 10]) },
        },
        Theme.Streams or Theme.Reminders => settings with
        {
            Silos = 2 + dice.Below(3),
            Clients = theme == Theme.Streams ? 1 + dice.Below(2) : dice.Below(2),
            // Without a lease, two activations of whatever keeps subscriptions would be right.
            Lease = TimeSpan.FromSeconds(dice.Between(5, 15)),
            ResponseTimeout = TimeSpan.FromSeconds(dice.Pick<int>(theme == Theme.Streams ? [5, 5, 30] : [5])),
            MailboxLimit = 100_000,
            CollectionAge = TimeSpan.FromSeconds(dice.Pick<int>([2, 10, 900])),
        },
        _ => settings,
    };

    /// <summary>The kinds of a run: none in a share of the runs, to see what the order of things alone brings to light.</summary>
    internal static IReadOnlyList<FaultKind> DrawFaults(Theme theme, Dice dice)
    {
        if (theme == Theme.Bulk)
            return [];
        if (theme == Theme.Lease)
            return [FaultKind.Isolation, FaultKind.LongPause];
        if (theme == Theme.Moves)
            return [FaultKind.Crash, FaultKind.Reset, FaultKind.ShortPause];
        // Where links are lost, cancellations may be too.
        if (theme == Theme.Tokens && dice.Chance(0.7))
        {
            return dice.Chance(0.5)
                ? [FaultKind.SlowLink, FaultKind.SlowMachine] : [FaultKind.SlowLink, FaultKind.Restart, FaultKind.Crash];
        }

        // Where nothing goes wrong, no enumeration may be lost; where links are lost, answers are.
        if (theme == Theme.Items && dice.Chance(0.5))
        {
            return dice.Pick<FaultKind[]>([
                [], [], [FaultKind.Reset], [FaultKind.Reset, FaultKind.SlowLink], [FaultKind.Restart, FaultKind.Crash],
                [FaultKind.Reset, FaultKind.Restart]]);
        }

        // Where silos only come and go, less is excused.
        if (theme is Theme.Streams or Theme.Reminders && dice.Chance(0.4))
        {
            // A table of reminders that is only slow is enough for some faults, and nothing else may be wrong then.
            return dice.Pick<FaultKind[]>([
                [FaultKind.Restart], [FaultKind.Restart, FaultKind.Crash], [FaultKind.Reset, FaultKind.Restart],
                [FaultKind.SlowLink, FaultKind.SlowMachine, FaultKind.Restart],
                theme == Theme.Streams ? [FaultKind.Restart] : []]);
        }

        var share = dice.Pick<double>([0, 0.1, 0.2, 0.4, 0.4, 0.4]);
        // Reminders are due by the clocks of machines: those of one that is an hour behind are due an hour later.
        return [.. Enum.GetValues<FaultKind>().Where(kind => dice.Chance(share)
            && !(theme == Theme.Reminders && kind == FaultKind.ClockJump))];
    }

    /// <summary>How often the faults of a theme come, and how long they stay.</summary>
    internal static FaultHabits HabitsOf(Theme theme) => theme switch
    {
        Theme.Lease => new FaultHabits(15 * Pump.Second, 5 * Pump.Second, LongIsolations: 1, TableCuts: 1),
        Theme.Moves => new FaultHabits(3 * Pump.Second, 2 * Pump.Second),
        Theme.States or Theme.Files => new FaultHabits(LongIsolations: 0.6, TableCuts: 0.7),
        _ => new FaultHabits(),
    };
}
