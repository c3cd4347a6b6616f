using System.Diagnostics;
using HaloPresence.Bench.Silos;

namespace HaloPresence.Bench.Faults;

/// <summary>The result of the fault experiment.</summary>
public sealed record FaultResult
{
    /// <summary>What was done.</summary>
    public required FaultOptions Options { get; init; }

    /// <summary>A word on what the numbers do not cover.</summary>
    public string Note => Options.Postgres is null ? "Silo 0 holds the embedded membership table: only a roll and a restart of all end it."
        : "A database holds the membership table.";

    /// <summary>One entry for each silo that was ended.</summary>
    public List<KillResult> Kills { get; init; } = [];

    /// <summary>Failures before the first kill.</summary>
    public SortedDictionary<string, long> ErrorsBefore { get; init; } = [];

    /// <summary>Games that the load client started again because somebody had forgotten them.</summary>
    public long GamesToldAgain { get; set; }

    /// <summary>Players that were asked at the end.</summary>
    public long Asked { get; set; }

    /// <summary>Those that did not answer.</summary>
    public List<string> Silent { get; set; } = [];

    /// <summary>Whether any grain was active twice at one time.</summary>
    public ActivationReport? Activations { get; set; }

    /// <summary>What is wrong; empty when all is well.</summary>
    public List<string> Faults { get; init; } = [];
}

/// <summary>What the end of one silo did. Times in seconds since the kill (or since the stop was asked for).</summary>
public sealed record KillResult
{
    /// <summary>Index of the silo.</summary>
    public required int Silo { get; init; }

    /// <summary>Until every other silo's view had dropped it; negative when one never did.</summary>
    public double Detected { get; init; }

    /// <summary>For how long the load, or the whole machine, stood still meanwhile.</summary>
    public double StoodStill { get; init; }

    /// <summary>Until the last failure of a request.</summary>
    public double LastError { get; init; }

    /// <summary>Until both.</summary>
    public double Healthy { get; init; }

    /// <summary>Requests that ended between this kill and the next.</summary>
    public long Requests { get; init; }

    /// <summary>
    /// Failures of requests that were sent before the kill's window was over (detection, a second, and what the load stood still), by type
    /// of exception.
    /// </summary>
    public SortedDictionary<string, long> Errors { get; init; } = [];

    /// <summary>Failures of requests that were sent later: there should be none.</summary>
    public SortedDictionary<string, long> LateErrors { get; init; } = [];

    /// <summary>One example of each type of failure.</summary>
    public SortedDictionary<string, string> Examples { get; init; } = [];

    /// <summary>The longest that a request took, answered or failed.</summary>
    public double LongestWait { get; init; }

    /// <summary>What 99.9 % of the requests took at most.</summary>
    public double P999 { get; init; }

    /// <summary>Answers that showed lost state.</summary>
    public long Forgotten { get; init; }

    /// <summary>From the start of the new process to its place in every view.</summary>
    public double Rejoined { get; init; }

    /// <summary>Grains that were active on the new silo when the next was ended.</summary>
    public long ActivationsOfNewSilo { get; set; }
}

/// <summary>What a fault experiment must not show.</summary>
public static class FaultVerdict
{
    /// <summary>The one exception that a request may meet while a silo is dead and the others do not know it yet.</summary>
    public const string Legitimate = "SiloUnavailableException";

    /// <summary>Beyond detection no request may wait for long: its silo is known to be dead.</summary>
    private const double Slack = 5;

    /// <summary>Adds everything that is wrong to <see cref="FaultResult.Faults"/>.</summary>
    public static void Judge(FaultResult result)
    {
        var faults = result.Faults;
        foreach ((var error, var count) in result.ErrorsBefore)
            faults.Add($"{count} {error} before the first silo was ended");
        for (var i = 0; i < result.Kills.Count; i++)
            Judge(result.Kills[i], $"silo {i + 1} of {result.Kills.Count}: ", result.Options, faults);
        if (result.Silent.Count > 0)
            faults.Add($"{result.Silent.Count} of {result.Asked} players did not answer at the end; the first: {result.Silent[0]}");
        // A check that sees nothing finds nothing.
        if (result.Activations is { Activations: 0 })
            faults.Add("no activation was written down");
        if (result.Activations is { Doubles: > 0 } activations)
            faults.Add($"{activations.Doubles} times a grain was active twice; the first: {activations.Texts[0]}");
    }

    private static void Judge(KillResult kill, string which, FaultOptions options, List<string> faults)
    {
        if (kill.Detected < 0)
            faults.Add(which + "another silo never dropped it");
        foreach ((var error, var count) in kill.Errors)
        {
            if (options.Graceful || error != Legitimate)
                faults.Add($"{which}{count} {error}; {kill.Examples[error]}");
        }
        if (options.Longest > 0 && (kill.LongestWait - kill.StoodStill) * 1000 > options.Longest)
            faults.Add($"{which}a request waited {kill.LongestWait * 1000:0} ms");
        foreach ((var error, var count) in kill.LateErrors)
            faults.Add($"{which}{count} {error} after the silos knew; {kill.Examples[error]}");
        if (kill.LongestWait > Math.Max(kill.Detected, 0) + Slack + kill.StoodStill + (options.Mode == FaultMode.Pause ? options.Pause : 0))
            faults.Add($"{which}a request waited {kill.LongestWait:0.0} s");
    }
}

/// <summary>Reads the journals of all silo processes and looks for grains that were active twice at one time.</summary>
public static class ActivationCheck
{
    private const int MaxTexts = 5;

    /// <summary>
    /// Checks every file; <paramref name="processes"/> names each and says when its process was surely over (monotonic time).
    /// </summary>
    /// <remarks>An activation lasts from its first record to its second, or to the end of its process.</remarks>
    public static ActivationReport Run(IEnumerable<(string Path, TimeSpan Over)> processes)
    {
        var lives = new Dictionary<(long Kind, long Key), List<Life>>();
        var silo = 0;
        long count = 0;
        foreach ((var path, var over) in processes)
        {
            foreach (var life in Read(path, silo, over.Ticks * (Stopwatch.Frequency / TimeSpan.TicksPerSecond), lives))
                count++;
            silo++;
        }
        var texts = new List<string>();
        long doubles = 0;
        foreach (((var kind, var key), var all) in lives)
        {
            all.Sort((one, other) => one.From.CompareTo(other.From));
            for (var i = 1; i < all.Count; i++)
            {
                if (all[i].From >= all[i - 1].To)
                    continue;
                doubles++;
                if (texts.Count < MaxTexts)
                    texts.Add($"{(JournalKind)kind} {key}: active in process {all[i - 1].Process} until {Seconds(all[i - 1].To)} and in process {all[i].Process} from {Seconds(all[i].From)}");
                all[i].To = Math.Max(all[i].To, all[i - 1].To);
            }
        }
        return new ActivationReport(count, lives.Count, doubles, texts);
    }

    private static List<Life> Read(string path, int process, long over, Dictionary<(long, long), List<Life>> lives)
    {
        var bytes = File.ReadAllBytes(path);
        var open = new Dictionary<long, Life>();
        var own = new List<Life>();
        for (var at = 0; at + ActivationJournal.RecordBytes <= bytes.Length; at += ActivationJournal.RecordBytes)
        {
            // A killed process may leave a record half done.
            if (BitConverter.ToInt64(bytes, at + 24) != ActivationJournal.Mark)
                continue;
            var head = BitConverter.ToInt64(bytes, at);
            var key = BitConverter.ToInt64(bytes, at + 8);
            var time = BitConverter.ToInt64(bytes, at + 16);
            if ((head & 1) == 0)
            {
                if (open.TryGetValue(head >> 8, out var ending))
                    ending.To = time;
                continue;
            }
            var life = new Life { Process = process, From = time, To = over };
            open.Add(head >> 8, life);
            own.Add(life);
            var grain = ((head >> 1) & 0x7F, key);
            if (!lives.TryGetValue(grain, out var all))
                lives.Add(grain, all = []);
            all.Add(life);
        }
        return own;
    }

    private static string Seconds(long timestamp) => $"{(double)timestamp / Stopwatch.Frequency:0.000} s";

    private sealed class Life
    {
        public int Process { get; init; }

        public long From { get; init; }

        public long To { get; set; }
    }
}

/// <summary>What <see cref="ActivationCheck"/> found.</summary>
/// <param name="Activations">Activations that were written down.</param>
/// <param name="Grains">Grains that they belong to.</param>
/// <param name="Doubles">Times that a grain was active twice at once.</param>
/// <param name="Texts">The first few of them.</param>
public sealed record ActivationReport(long Activations, long Grains, long Doubles, IReadOnlyList<string> Texts);
