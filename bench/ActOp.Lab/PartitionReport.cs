namespace ActOp.Lab;

/// <summary>The result of the partition command as it is written with --json.</summary>
internal sealed record PartitionReport(
    int Parts, int Seed, double Tolerance, string Algorithm, int Candidates, double CutShare, double MaxImbalanceShare,
    IReadOnlyList<RoundReport> Rounds, double? MetisCutShare, string? MetisProblem);
