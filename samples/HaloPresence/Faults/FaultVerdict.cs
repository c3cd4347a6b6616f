namespace HaloPresence.Faults;

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
        List<string> faults = result.Faults;
        foreach ((string error, long count) in result.ErrorsBefore)
            faults.Add($"{count} {error} before the first silo was ended");
        for (int i = 0; i < result.Kills.Count; i++)
            Judge(result.Kills[i], $"silo {i + 1} of {result.Kills.Count}: ", result.Options, faults);
        if (result.Silent.Count > 0)
            faults.Add($"{result.Silent.Count} of {result.Asked} players did not answer at the end; the first: {result.Silent[0]}");
        if (result.Activations is { Doubles: > 0 } activations)
            faults.Add($"{activations.Doubles} times a grain was active twice; the first: {activations.Texts[0]}");
    }

    private static void Judge(KillResult kill, string which, FaultOptions options, List<string> faults)
    {
        if (kill.Detected < 0)
            faults.Add(which + "another silo never dropped it");
        foreach ((string error, long count) in kill.Errors)
        {
            if (options.Graceful || error != Legitimate)
                faults.Add($"{which}{count} {error}; {kill.Examples[error]}");
        }
        foreach ((string error, long count) in kill.LateErrors)
            faults.Add($"{which}{count} {error} after the silos knew; {kill.Examples[error]}");
        if (kill.LongestWait > Math.Max(kill.Detected, 0) + Slack + (options.Mode == FaultMode.Pause ? options.Pause : 0))
            faults.Add($"{which}a request waited {kill.LongestWait:0.0} s");
    }
}
