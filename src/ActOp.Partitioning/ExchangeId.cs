namespace ActOp.Partitioning;

/// <summary>Names one exchange: who offered, in which of its lives, which offer of that life.</summary>
/// <param name="Origin">A number that names the offering silo the same way everywhere (for instance a hash of its address). At crossing
/// offers the smaller goes first.</param>
/// <param name="Epoch">The life of that silo: greater after a restart.</param>
/// <param name="Sequence">Greater with each offer of that life.</param>
public readonly record struct ExchangeId(ulong Origin, long Epoch, long Sequence);
