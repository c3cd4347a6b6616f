namespace ActOp.Lab.Seda;

/// <summary>The stages at one moment.</summary>
internal sealed record SedaSample(double Seconds, IReadOnlyList<int> Queued, IReadOnlyList<int> Threads);
