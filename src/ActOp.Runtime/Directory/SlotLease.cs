namespace ActOp.Runtime.Directory;

/// <summary>A slot in which unknown grains may still run on a dead silo.</summary>
/// <param name="Slot">The slot.</param>
/// <param name="Remaining">Milliseconds until the lease ends.</param>
[Orleans.GenerateSerializer]
internal readonly record struct SlotLease(int Slot, int Remaining);
