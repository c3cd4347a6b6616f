using ActOp.Harness.Activations;

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
