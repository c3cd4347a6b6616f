namespace HaloPresence.Faults;

/// <summary>What the end of one silo did. Times in seconds since the kill (or since the stop was asked for).</summary>
public sealed record KillResult
{
    /// <summary>Index of the silo.</summary>
    public required int Silo { get; init; }

    /// <summary>Until every other silo's view had dropped it; negative when one never did.</summary>
    public double Detected { get; init; }

    /// <summary>Until the last failure of a request.</summary>
    public double LastError { get; init; }

    /// <summary>Until both.</summary>
    public double Healthy { get; init; }

    /// <summary>Requests that ended between this kill and the next.</summary>
    public long Requests { get; init; }

    /// <summary>
    /// Failures of requests that were sent before the kill's window was over (detection and a second), by type of exception.
    /// </summary>
    public SortedDictionary<string, long> Errors { get; init; } = [];

    /// <summary>Failures of requests that were sent later: there should be none.</summary>
    public SortedDictionary<string, long> LateErrors { get; init; } = [];

    /// <summary>One example of each type of failure.</summary>
    public SortedDictionary<string, string> Examples { get; init; } = [];

    /// <summary>The longest that a request took, answered or failed.</summary>
    public double LongestWait { get; init; }

    /// <summary>Answers that showed lost state.</summary>
    public long Forgotten { get; init; }

    /// <summary>From the start of the new process to its place in every view.</summary>
    public double Rejoined { get; init; }

    /// <summary>Grains that were active on the new silo when the next was ended.</summary>
    public long ActivationsOfNewSilo { get; set; }
}
