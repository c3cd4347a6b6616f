namespace ActOp.Lab;

/// <summary>The result of the partition command as it is written with --json.</summary>
internal sealed record PartitionReport(
    int Parts, int Seed, double Tolerance, string Algorithm, int Candidates, double CutShare, double MaxImbalanceShare,
    IReadOnlyList<RoundReport> Rounds, double? MetisCutShare, string? MetisProblem)
{
    /// <summary>This cut over that of METIS; null without one, or where METIS cuts nothing.</summary>
    public double? MetisRatio => MetisCutShare is > 0 and var reference ? CutShare / reference : null;
}

/// <summary>The result of the partition command with --seeds as it is written with --json.</summary>
internal sealed record SeedsReport(
    string Graph, int Vertices, int Edges, double MeanCutShare, double? MeanMetisRatio, IReadOnlyList<PartitionReport> Runs);
