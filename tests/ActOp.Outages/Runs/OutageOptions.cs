namespace ActOp.Outages.Runs;

/// <summary>What is run.</summary>
internal sealed record OutageOptions
{
    /// <summary>For how long faults are played.</summary>
    public double Minutes { get; init; } = 1;

    /// <summary>Silos.</summary>
    public int Silos { get; init; } = 4;

    /// <summary>Client processes.</summary>
    public int Clients { get; init; } = 2;

    /// <summary>Callers of each client.</summary>
    public int Loops { get; init; } = 10;

    /// <summary>Seed of the faults and of the load.</summary>
    public int Seed { get; init; } = 1;

    /// <summary>
    /// Seconds after which a silo that cannot confirm its membership pauses its grains; 0 for never: then two activations are possible.
    /// </summary>
    public double Lease { get; init; } = 5;

    /// <summary>Kinds of faults.</summary>
    public IReadOnlyList<FaultKind> Faults { get; init; } = Schedule.All;

    /// <summary>A folder for what the processes wrote; null to remove it.</summary>
    public string? Keep { get; init; }

    /// <summary>What is wrong with the options; null for nothing.</summary>
    internal string? FindError() => Minutes is not (> 0 and <= 600) ? "--minutes must be more than 0 and at most 600."
        : Silos is not (>= 2 and <= 8) ? "--silos must be 2 to 8."
        : Clients is not (>= 1 and <= 8) ? "--clients must be 1 to 8."
        : Lease is not (0 or (>= 1 and <= 60)) ? "--lease must be 1 to 60 seconds, or 0 for none."
        : Faults.Count == 0 ? "--faults must be all, or a list of " + string.Join(", ", Schedule.All) + "."
        : null;

    /// <summary>The kinds of a list; empty for a list that is wrong.</summary>
    internal static IReadOnlyList<FaultKind> Parse(string list)
    {
        if (list == "all")
            return Schedule.All;
        var kinds = new List<FaultKind>();
        foreach (var name in list.Split(','))
        {
            if (!Enum.TryParse<FaultKind>(name, ignoreCase: true, out var kind) || !Enum.IsDefined(kind))
                return [];
            kinds.Add(kind);
        }

        return kinds;
    }
}
