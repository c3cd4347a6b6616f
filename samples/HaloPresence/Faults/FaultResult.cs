namespace HaloPresence.Faults;

/// <summary>The result of the fault experiment.</summary>
public sealed record FaultResult
{
    /// <summary>What was done.</summary>
    public required FaultOptions Options { get; init; }

    /// <summary>A word on what the numbers do not cover.</summary>
    public string Note { get; init; } = "Silo 0 holds the embedded membership table: only a roll and a restart of all end it.";

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
