namespace ActOp.Cluster.Tests.Simulation;

/// <summary>What the simulated network does to messages.</summary>
internal sealed record Faults
{
    public double Loss { get; init; }

    public double Duplication { get; init; }

    public int MaxDelay { get; init; } = 5;
}
