using System.Diagnostics;
using System.Globalization;
using ActOp.Simulation;
using ActOp.Simulation.Checks;
using ActOp.Simulation.Explore;
using ActOp.Simulation.Mutations;
using ActOp.Simulation.World;


/// <summary>The command line.</summary>
internal static class Program
{
    private const int Fine = 0;
    private const int Wrong = 2;
    private const int Crash = 127;
    private const int Liveness = 128;
    private const int Safety = 129;

    private const string Help = """
        Simulates whole nodes: silos, clients and grains as they are, in one thread and virtual time, from a seed.
          --seeds A-B       plays the seeds A to B and counts what happened (default 1-100)
          --seed N          plays one seed
          --theme T         lease: silos that are cut off for longer than their lease; moves: crashes while many grains move;
                            states: grains that write to an unreliable storage; tokens: calls that are cancelled;
                            bulk: large arguments on slow links, and no faults; streams: producers and consumers of streams;
                            reminders: grains with reminders, and a table of reminders that fails;
                            files: states in files, and losses of power; items: enumerations
          --trace FILE      writes every event (time, machine, event); with --seeds to one file per seed, FILE and the seed's number
          --hash            with --seed or --seeds: prints the hash of each seed's events
          --keep-going      with --seeds: goes on after a violation
          --minutes M       with --seeds: stops after M minutes
          --most V          with --keep-going: stops after V seeds with violations
          --mutations [N,N] builds the sources with planted faults and says which seed finds each
          --budget N        with --mutations: plays no more than N seeds for each
          --explore [S,S]   plays the scenarios once for each request between nodes and each way in which it can go wrong (default all;
                            short: what the pipeline plays)
          --ways W,W        answer, silent, late, request, sendercut, receivercut, sendercrash, receivercrash (default all)
          --kinds K,K       only requests whose names begin so
          --depth N         occurrences of each kind of request (default 8)
          --pairs           also two that go wrong in one run
          --budget N        no more than N runs of each scenario; --minutes M: no more than M minutes
          --at N --way W    plays one run of one scenario; with --trace, --hash, and --list for the requests
        Exit codes: 0 nothing found, 127 the simulator failed, 128 something does not happen in time, 129 something happened that must not.
        """;

    internal static int Main(string[] args)
    {
        CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        var options = new Dictionary<string, string>();
        for (var at = 0; at < args.Length; at++)
            options[args[at]] = at + 1 < args.Length && !args[at + 1].StartsWith("--", StringComparison.Ordinal) ? args[++at] : "";
        if (options.ContainsKey("--help"))
        {
            Console.WriteLine(Help);
            return Fine;
        }

        try
        {
            if (options.TryGetValue("--mutations", out var numbers))
            {
                var most = options.TryGetValue("--budget", out var budget) ? int.Parse(budget) : int.MaxValue;
                return MutantRun.Play([.. numbers.Split(',', StringSplitOptions.RemoveEmptyEntries).Select(int.Parse)], most) == 0
                    ? Fine : Safety;
            }

            Pump.OwnThePool();
            if (options.ContainsKey("--explore"))
                return CodeOf(Explorer.Play(options));
            return options.TryGetValue("--seed", out var seed) ? One(ulong.Parse(seed), options) : Many(options);
        }
        catch (FormatException)
        {
            Console.Error.WriteLine(Help);
            return Wrong;
        }
        catch (Exception exception)
        {
            Console.Error.WriteLine("The simulator failed: " + exception);
            return Crash;
        }
    }

    private static int One(ulong seed, Dictionary<string, string> options)
    {
        using var trace = options.TryGetValue("--trace", out var file) ? new StreamWriter(file) : null;
        var outcome = Run.Play(seed, ThemeOf(options), trace);
        if (options.ContainsKey("--hash"))
            Console.WriteLine("seed " + seed + " hash " + outcome.Hash.ToString("x16"));
        Report([outcome]);
        return CodeOf([outcome]);
    }

    private static Theme ThemeOf(Dictionary<string, string> options) =>
        options.TryGetValue("--theme", out var theme) ? Enum.Parse<Theme>(theme, ignoreCase: true) : Theme.Any;

    private static int Many(Dictionary<string, string> options)
    {
        var range = options.GetValueOrDefault("--seeds", "1-100").Split('-');
        var (first, last) = (ulong.Parse(range[0]), ulong.Parse(range[^1]));
        var minutes = options.TryGetValue("--minutes", out var text) ? double.Parse(text) : double.PositiveInfinity;
        var most = options.TryGetValue("--most", out var limit) ? int.Parse(limit) : options.ContainsKey("--keep-going") ? int.MaxValue : 1;
        var wrong = 0;
        var watch = Stopwatch.StartNew();
        var outcomes = new List<Outcome>();
        for (var seed = first; seed <= last && watch.Elapsed.TotalMinutes < minutes; seed++)
        {
            using var trace = options.TryGetValue("--trace", out var file) ? new StreamWriter(file + seed) : null;
            Outcome outcome;
            try
            {
                outcome = Run.Play(seed, ThemeOf(options), trace);
            }
            catch
            {
                // Such a seed counts as found, with a mutation; without one it is the simulator's fault.
                Console.WriteLine("seed " + seed + " at end crash: the simulator failed");
                throw;
            }

            outcomes.Add(outcome);
            if (options.ContainsKey("--hash"))
                Console.WriteLine("seed " + seed + " hash " + outcome.Hash.ToString("x16"));
            foreach (var violation in outcome.Violations)
            {
                Console.WriteLine(
                    "seed " + seed + " at " + new TimeSpan(violation.Time) + " " + violation.Oracle + ": " + violation.Text.Split('\n')[0]);
            }

            wrong += outcome.Violations.Count > 0 ? 1 : 0;
            if (wrong >= most)
                break;
            if (outcomes.Count % 50 == 0)
                Console.WriteLine(outcomes.Count + " seeds, " + watch.Elapsed.TotalSeconds.ToString("F0") + " s");
        }

        Report(outcomes);
        return CodeOf(outcomes);
    }

    private static void Report(List<Outcome> outcomes)
    {
        Console.WriteLine("seeds       " + outcomes.Count);
        Console.WriteLine(
            "simulated   " + (outcomes.Sum(static one => one.Simulated.TotalHours)).ToString("F2") + " h, " +
                outcomes.Sum(static one => one.Events) + " events, " + outcomes.Sum(static one => one.Detours) + " detours");
        Console.WriteLine("faults      "
            + Counts(outcomes.SelectMany(static one => one.Faults).GroupBy(static fault => fault.Kind.ToString())
                .Select(static group => (group.Key, (long)group.Count()))));
        Console.WriteLine("calls       "
            + Counts(outcomes.SelectMany(static one => one.Calls).GroupBy(static call => call.Key)
                .Select(static group => (group.Key, group.Sum(static call => call.Value)))));
        Console.WriteLine(
            "excused     " + outcomes.Sum(static one => one.Excused) + " turns, " + outcomes.Sum(static one => one.Lost) +
                " states lost in a move");
        Console.WriteLine(
            "lives       " + outcomes.Sum(static one => one.LifeEvents) + " events, of " +
                outcomes.SelectMany(static one => one.KindsOfLifeEvents).Distinct().Count() + " of " + LifeEvents.AllKinds + " kinds");
        Console.WriteLine(
            "violations  " + outcomes.Sum(static one => one.Violations.Count) + " in " +
                outcomes.Count(static one => one.Violations.Count > 0) + " seeds");
        if (outcomes.Count == 1)
        {
            foreach (var violation in outcomes[0].Violations)
                Console.WriteLine("  at " + new TimeSpan(violation.Time) + " " + violation.Oracle + ": " + violation.Text);
        }
    }

    private static string Counts(IEnumerable<(string Name, long Count)> counts) =>
        string.Join(", ", counts.OrderByDescending(static pair => pair.Count)
            .Select(static pair => pair.Name + " " + pair.Count)) is { Length: > 0 } text ? text : "none";

    private static int CodeOf(List<Outcome> outcomes) => CodeOf([.. outcomes.SelectMany(static one => one.Violations)]);

    private static int CodeOf(IReadOnlyList<Violation> violations) =>
        violations.Count == 0 ? Fine : violations.All(static one => one.IsLiveness) ? Liveness : Safety;
}
