using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>"Please probe that silo for me."</summary>
/// <param name="Id">Number that the answer repeats.</param>
/// <param name="From">Who asks.</param>
/// <param name="Target">The silo in doubt.</param>
[Orleans.GenerateSerializer]
internal readonly record struct IndirectProbe(long Id, SiloAddress From, SiloAddress Target);
