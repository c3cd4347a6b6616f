using HaloPresence.Options;

namespace HaloPresence.Faults;

/// <summary>What the fault experiment does.</summary>
/// <param name="Halo">Silos, players, game size, rate, seed and optimisation.</param>
/// <param name="Kills">How many silos are ended, one after the other.</param>
/// <param name="Interval">Seconds from one end to the next at least.</param>
/// <param name="Graceful">Stop the silo as an operator would instead of killing it: no request may fail.</param>
public sealed record FaultOptions(HaloOptions Halo, int Kills, double Interval, bool Graceful)
{
    /// <summary>Whether to print the silos' last log lines at the end.</summary>
    public bool Verbose { get; init; }

    /// <summary>The first thing wrong with the options, naming the option; null when they are fine.</summary>
    public string? FindError()
    {
        if (Halo.FindError() is { } error) return error;
        if (Halo.Silos < 2) return "--silos must be at least 2: silo 0 is never ended.";
        if (Halo.Rehearse) return "--rehearse has no silos to end.";
        if (Kills is < 1 or > 1000) return $"--kills must be 1 to 1000, not {Kills}.";
        if (!(Interval is >= 2 and <= 600)) return $"--interval must be 2 to 600 seconds, not {Interval}.";
        return null;
    }
}
