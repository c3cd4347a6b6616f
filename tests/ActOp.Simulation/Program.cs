using System.Diagnostics;
using System.Globalization;
using ActOp.Simulation;
using ActOp.Simulation.Checks;
using ActOp.Simulation.Explore;
using ActOp.Simulation.Mutations;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

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
          --seeds A-B,N,..  ranges and single seeds
          --theme T         any: whatever the seed draws; lease: silos that are cut off for longer than their lease;
                            moves: crashes while many grains move; states: grains that write to an unreliable storage;
                            tokens: calls that are cancelled; bulk: large arguments on slow links, and no faults;
                            streams: producers and consumers of streams; reminders: grains with reminders, and a table of
                            reminders that fails; files: states in files, and losses of power; items: enumerations;
                            all: one theme after the other, each with its share of the minutes
          --themes          lists the themes
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
        if (options.ContainsKey("--help") || options.ContainsKey("--themes"))
        {
            Console.WriteLine(options.ContainsKey("--help") ? Help : string.Join('\n', Enum.GetNames<Theme>()).ToLowerInvariant());
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
            if (options.TryGetValue("--seed", out var seed))
                return One(ulong.Parse(seed), options);
            var themes = options.GetValueOrDefault("--theme") == "all" ? Enum.GetValues<Theme>() : [ThemeOf(options)];
            return themes.Max(theme => Many(theme, options, 1.0 / themes.Length));
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
        Report.Write([outcome], ThemeOf(options), Environment.CpuUsage.TotalTime);
        return CodeOf([outcome]);
    }

    private static Theme ThemeOf(Dictionary<string, string> options) =>
        options.TryGetValue("--theme", out var theme) ? Enum.Parse<Theme>(theme, ignoreCase: true) : Theme.Any;

    /// <summary>Plays seeds of a theme, with a share of the time that is allowed.</summary>
    private static int Many(Theme theme, Dictionary<string, string> options, double share)
    {
        var minutes = share * (options.TryGetValue("--minutes", out var text) ? double.Parse(text) : double.PositiveInfinity);
        var most = options.TryGetValue("--most", out var limit) ? int.Parse(limit) : options.ContainsKey("--keep-going") ? int.MaxValue : 1;
        var wrong = 0;
        var watch = Stopwatch.StartNew();
        var cpu = Environment.CpuUsage.TotalTime;
        var outcomes = new List<Outcome>();
        Console.WriteLine("theme       " + theme.ToString().ToLowerInvariant());
        foreach (var seed in Seeds(options.GetValueOrDefault("--seeds", "1-100")))
        {
            if (watch.Elapsed.TotalMinutes >= minutes)
                break;
            using var trace = options.TryGetValue("--trace", out var file) ? new StreamWriter(file + seed) : null;
            Outcome outcome;
            try
            {
                outcome = Run.Play(seed, theme, trace);
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

        var excuses = Report.Write(outcomes, theme, Environment.CpuUsage.TotalTime - cpu);
        if (outcomes.Count < Excuses.EnoughSeeds)
            return CodeOf(outcomes);
        foreach (var exceeded in excuses.Exceeded(theme))
            Console.WriteLine("theme " + theme + " excuses: " + exceeded);
        return excuses.Exceeded(theme).Any() ? Safety : CodeOf(outcomes);
    }

    private static IEnumerable<ulong> Seeds(string ranges)
    {
        foreach (var range in ranges.Split(','))
        {
            var ends = range.Split('-');
            for (var seed = ulong.Parse(ends[0]); seed <= ulong.Parse(ends[^1]); seed++)
                yield return seed;
        }
    }

    private static int CodeOf(List<Outcome> outcomes) => CodeOf([.. outcomes.SelectMany(static one => one.Violations)]);

    private static int CodeOf(IReadOnlyList<Violation> violations) =>
        violations.Count == 0 ? Fine : violations.All(static one => one.IsLiveness) ? Liveness : Safety;
}
