namespace HaloPresence.Faults;

/// <summary>A silo process says that it has adopted a view.</summary>
public sealed record ViewLine
{
    /// <summary>The view's number.</summary>
    public required long View { get; init; }

    /// <summary>Seconds on the machine's monotonic clock.</summary>
    public required double T { get; init; }

    /// <summary>Active silos.</summary>
    public int Active { get; init; }

    /// <summary>Silos that became active, as text.</summary>
    public string Joined { get; init; } = "";

    /// <summary>Silos that no longer are, as text.</summary>
    public string Left { get; init; } = "";
}
