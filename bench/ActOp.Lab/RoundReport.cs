namespace ActOp.Lab;

/// <summary>One round of exchanges.</summary>
internal sealed record RoundReport(double CutShare, double MaxImbalanceShare, int Moves, double Seconds);
