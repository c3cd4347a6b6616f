using HaloPresence.Options;

namespace HaloPresence.Faults;

/// <summary>What happens to the silos.</summary>
public enum FaultMode
{
    /// <summary>One after the other is killed (SIGKILL) and started again.</summary>
    Kill,

    /// <summary>One after the other is stopped in order and started again: no request may fail.</summary>
    Stop,

    /// <summary>
    /// One after the other stands still for a while (SIGSTOP, SIGCONT). If that was so long that the others dropped it, it is started
    /// again.
    /// </summary>
    Pause,

    /// <summary>All are killed at once and started again: nothing is left of the cluster but its clients.</summary>
    RestartAll,

    /// <summary>
    /// All, the one that holds the membership table too, are stopped in order and started again, one after the other: no request may fail.
    /// </summary>
    Roll,
}

/// <summary>What the fault experiment does.</summary>
/// <param name="Halo">Silos, players, game size, rate, seed and optimisation.</param>
/// <param name="Mode">What happens to the silos.</param>
/// <param name="Times">How often it happens; a roll is once through all silos.</param>
/// <param name="Interval">Seconds from one time to the next at least.</param>
public sealed record FaultOptions(HaloOptions Halo, FaultMode Mode, int Times, double Interval)
{
    /// <summary>Seconds that a silo stands still.</summary>
    public double Pause { get; init; } = 1;

    /// <summary>Seconds after which a silo that cannot confirm its membership pauses its grains; 0 for never.</summary>
    public double Lease { get; init; }

    /// <summary>Whether to print the silos' last log lines at the end.</summary>
    public bool Verbose { get; init; }

    /// <summary>Whether no request may fail.</summary>
    public bool Graceful => Mode is FaultMode.Stop or FaultMode.Roll;

    /// <summary>The first thing wrong with the options, naming the option; null when they are fine.</summary>
    public string? FindError()
    {
        if (Halo.FindError() is { } error) return error;
        if (Halo.Silos < 2) return "--silos must be at least 2: somebody must be left.";
        if (Halo.Rehearse) return "--rehearse has no silos to end.";
        if (Times is < 1 or > 1000) return $"--kills must be 1 to 1000, not {Times}.";
        if (!(Interval is >= 2 and <= 600)) return $"--interval must be 2 to 600 seconds, not {Interval}.";
        if (!(Pause is >= 0.1 and <= 300)) return $"--pause must be 0.1 to 300 seconds, not {Pause}.";
        if (Lease != 0 && !(Lease is >= 1 and <= 3600)) return $"--lease must be 0 (none) or 1 to 3600 seconds, not {Lease}.";
        return null;
    }
}
