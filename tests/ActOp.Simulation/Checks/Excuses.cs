using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation.Checks;

/// <summary>
/// Why something that looks wrong is right. What is excused too often is a check that sees nothing: so each excuse is counted, and over
/// many seeds it may be said of a share of the cases only.
/// </summary>
/// <param name="Name">What is excused, and why.</param>
/// <param name="Of">What its share is of.</param>
/// <param name="Most">The greatest share that it may have, over many seeds of one theme.</param>
internal sealed record Excuse(string Name, string Of, double Most)
{
    /// <summary>A theme in which the share may be greater, because what is excused is what it plays.</summary>
    internal (Theme Theme, double Most)? Except { get; init; }

    internal const string Calls = "calls";
    internal const string Turns = "turns";
    internal const string Lives = "lives";
    internal const string Processes = "processes";

    internal static readonly Excuse CallerEnds = new("a call fails: its caller's node ends", Calls, 0.1);
    internal static readonly Excuse CallerDied = new("a call has no end: its caller's process died", Calls, 0.05);
    internal static readonly Excuse Fault = new("a call fails: a fault then or shortly before", Calls, 0.15);
    internal static readonly Excuse Change = new("a call fails: a process came or ended shortly before", Calls, 0.04);
    internal static readonly Excuse SlowCall = new("a call times out: its grain was busy or waited for others", Calls, 0.01);
    internal static readonly Excuse FullMailbox = new("a call is refused: the mailbox limit is small", Calls, 0.15)
    {
        // A third of the seeds has a limit of three, which bursts exceed.
        Except = (Theme.Any, 0.4),
    };

    internal static readonly Excuse FullLink = new("a call fails: large messages fill the links", Calls, 0.01);
    internal static readonly Excuse Hook = new("a call fails: a hook of the grain throws", Calls, 0.01);
    internal static readonly Excuse TurnWithoutLease = new("a turn beside a newer activation: evicted, no lease", Turns, 0.003);
    internal static readonly Excuse LifeWithoutLease = new("a life beside a newer one: evicted, no lease", Lives, 0.005);
    internal static readonly Excuse LateTurn = new("a turn long after its caller's timeout: a fault delays frames", Turns, 0.002);
    internal static readonly Excuse ProcessEnded = new("memory is lost: its process ended or was evicted", Lives, 0.15)
    {
        Except = (Theme.Files, 0.5),
    };

    internal static readonly Excuse Asked = new("memory is lost: the grain has asked for its end", Lives, 0.4);
    internal static readonly Excuse Collected = new("memory is lost: idle for the collection age", Lives, 0.5);
    internal static readonly Excuse NoSilo = new("memory is lost: its silo stops", Lives, 0.04)
    {
        Except = (Theme.Reminders, 0.1),
    };

    internal static readonly Excuse Spoilt = new("memory is lost in a move: a hook failed on arrival", Lives, 0.01);
    internal static readonly Excuse SourceEnds = new("memory is lost in a move: its source ends", Lives, 0.02);
    internal static readonly Excuse TargetEnds = new("memory is lost in a move: its target ends", Lives, 0.02);
    internal static readonly Excuse StartFailed = new("a start fails: network or table are not whole", Processes, 0.1)
    {
        Except = (Theme.Files, 0.6),
    };

    internal static readonly Excuse Evicted = new("an error is logged: evicted, or the lease has ended", Processes, 2);
    internal static readonly Excuse Descriptors = new("an error is logged: no descriptors", Processes, 0.2);
    internal static readonly Excuse Storage = new("an error is logged: the storage has failed", Processes, 30);
    internal static readonly Excuse Reminders = new("an error is logged: a tick, or the table of reminders, has failed", Processes, 5);
    internal static readonly Excuse LeftByEvicted = new("background work is left: an evicted silo", Processes, 0.1);

    internal static readonly Excuse[] All =
    [
        CallerEnds, CallerDied, Fault, Change, SlowCall, FullMailbox, FullLink, Hook, TurnWithoutLease, LifeWithoutLease, LateTurn,
        ProcessEnded, Asked, Collected, NoSilo, Spoilt, SourceEnds, TargetEnds, StartFailed, Evicted, Descriptors, Storage,
        Reminders, LeftByEvicted,
    ];

    /// <summary>The greatest share in seeds of a theme.</summary>
    internal double MostOf(Theme theme) => Except is { } except && except.Theme == theme ? except.Most : Most;
}

/// <summary>The excuses of one run, or of several.</summary>
internal sealed class Excuses
{
    /// <summary>Fewer seeds say nothing of shares: one may consist of one fault.</summary>
    internal const int EnoughSeeds = 40;

    private readonly Dictionary<Excuse, (long Count, int Runs)> _counts = [];
    private readonly Dictionary<string, long> _cases = [];

    /// <summary>One more case of what excuses are said of.</summary>
    internal void See(string of) => _cases[of] = _cases.GetValueOrDefault(of) + 1;

    /// <summary>Counts an excuse; always true.</summary>
    internal bool Say(Excuse excuse)
    {
        _counts[excuse] = (_counts.GetValueOrDefault(excuse).Count + 1, 1);
        return true;
    }

    internal void Add(Excuses run)
    {
        foreach (var (excuse, (count, runs)) in run._counts)
        {
            var (before, runsBefore) = _counts.GetValueOrDefault(excuse);
            _counts[excuse] = (before + count, runsBefore + runs);
        }

        foreach (var (of, count) in run._cases)
            _cases[of] = _cases.GetValueOrDefault(of) + count;
    }

    /// <summary>The table of the excuses that were said.</summary>
    internal IEnumerable<string> Table(Theme theme)
    {
        foreach (var excuse in Excuse.All)
        {
            if (_counts.TryGetValue(excuse, out var said))
            {
                yield return $"  {said.Count,9} in {said.Runs,4} seeds, {100 * ShareOf(excuse),8:F4} % of the {excuse.Of}, "
                    + $"at most {100 * excuse.MostOf(theme),5:G4} %: {excuse.Name}";
            }
        }
    }

    /// <summary>Those that were said too often.</summary>
    internal IEnumerable<string> Exceeded(Theme theme) =>
        from excuse in Excuse.All
        where _counts.ContainsKey(excuse) && ShareOf(excuse) > excuse.MostOf(theme)
        select $"\"{excuse.Name}\" was said of {100 * ShareOf(excuse):F4} % of the {excuse.Of}, "
            + $"more than {100 * excuse.MostOf(theme):G4} %";

    private double ShareOf(Excuse excuse) => (double)_counts[excuse].Count / Math.Max(1, _cases.GetValueOrDefault(excuse.Of));
}
