using System.Globalization;

namespace ActOp.Outages.Runs;

/// <summary>What goes wrong.</summary>
internal enum FaultKind
{
    /// <summary>A silo is killed (SIGKILL), and started again.</summary>
    Kill,

    /// <summary>A silo stands still (SIGSTOP).</summary>
    Pause,

    /// <summary>A silo reaches nobody, and nobody reaches it.</summary>
    Isolate,

    /// <summary>Some silos and the others do not reach each other, or in one direction only; all reach the database and the clients.</summary>
    Split,

    /// <summary>Nothing that a silo sends arrives.</summary>
    Mute,

    /// <summary>Nothing that is sent to a silo arrives.</summary>
    Deaf,

    /// <summary>Links are slow: by their delay, or by their rate with some loss.</summary>
    Slow,

    /// <summary>The clock of a silo or of the database jumps, and later back.</summary>
    Clock,

    /// <summary>A silo is killed, and started again with a clock that was set back.</summary>
    ClockKill,

    /// <summary>The database is killed (SIGKILL), and started again.</summary>
    DatabaseKill,

    /// <summary>The database stands still (SIGSTOP).</summary>
    DatabasePause,

    /// <summary>A silo and the database do not reach each other, or in one direction only.</summary>
    DatabaseCut,

    /// <summary>A client and the silos do not reach each other, or in one direction only.</summary>
    ClientCut,
}

/// <summary>In which direction the packets of a node are lost.</summary>
internal enum Direction
{
    /// <summary>Both.</summary>
    Both,

    /// <summary>What it sends.</summary>
    Out,

    /// <summary>What is sent to it.</summary>
    In,
}

/// <summary>One fault.</summary>
/// <param name="Kind">What goes wrong.</param>
/// <param name="Target">
/// The silo or client; for <see cref="FaultKind.Clock"/> the number of silos stands for the database; for <see cref="FaultKind.Split"/>
/// the silos of one side as bits; for <see cref="FaultKind.Slow"/> the silo, or a negative number for all links.
/// </param>
/// <param name="Seconds">How long.</param>
/// <param name="Direction">Where packets are lost.</param>
/// <param name="Amount">
/// How many seconds the clock jumps, the delay of slow links in milliseconds, or the bytes per second of those of a slow silo.
/// </param>
internal sealed record Fault(FaultKind Kind, int Target, double Seconds, Direction Direction = Direction.Both, long Amount = 0)
{
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture, $"{Kind} target {Target} for {Seconds:0.0} s, {Direction}, amount {Amount}");
}

/// <summary>The faults of a run, from a seed. Pure.</summary>
internal static class Schedule
{
    private static readonly long[] Jumps = [2, 60, 3600, 86_400];

    /// <summary>All kinds.</summary>
    internal static FaultKind[] All => Enum.GetValues<FaultKind>();

    /// <summary>Faults without end: each kind once, in an order by chance, then again.</summary>
    internal static IEnumerable<Fault> Draw(int seed, int silos, int clients, IReadOnlyList<FaultKind> kinds)
    {
        var random = new Random(seed);
        while (true)
        {
            FaultKind[] deck = [.. kinds];
            random.Shuffle(deck);
            foreach (var kind in deck)
                yield return Draw(random, kind, silos, clients);
        }
    }

    private static Fault Draw(Random random, FaultKind kind, int silos, int clients)
    {
        var silo = random.Next(silos);
        // Half of the faults are shorter than the time in which a silo is found dead, half are longer than that and a lease.
        var isLong = random.Next(2) == 1;
        var seconds = Math.Round(isLong ? 7 + (5 * random.NextDouble()) : 1 + (2 * random.NextDouble()), 1);
        var direction = (Direction)random.Next(3);
        var jump = Jumps[random.Next(Jumps.Length)] * (random.Next(2) == 0 ? 1 : -1);
        return kind switch
        {
            FaultKind.Kill => new Fault(kind, silo, Math.Round(4 * random.NextDouble(), 1)),
            FaultKind.ClockKill => new Fault(kind, silo, 3, Amount: -Math.Abs(jump)),
            FaultKind.Split => new Fault(kind, random.Next(1, (1 << silos) - 1), seconds, direction),
            FaultKind.Slow when random.Next(2) == 0 => new Fault(kind, -1, 6, Amount: random.Next(20, 80)),
            FaultKind.Slow => new Fault(kind, silo, 6, Amount: random.Next(100_000, 400_000)),
            FaultKind.Clock => new Fault(kind, random.Next(silos + 1), 4, Amount: jump),
            FaultKind.DatabaseKill or FaultKind.DatabasePause => new Fault(kind, 0, seconds),
            FaultKind.DatabaseCut => new Fault(kind, silo, seconds, direction),
            FaultKind.ClientCut => new Fault(kind, random.Next(clients), seconds, direction),
            _ => new Fault(kind, silo, seconds),
        };
    }
}
