using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>"Are you there?", over the control channel.</summary>
/// <param name="Id">Number that the answer repeats.</param>
/// <param name="From">Who asks.</param>
/// <param name="Version">The asker's table version: the receiver reads the table when its own is older.</param>
[Orleans.GenerateSerializer]
internal readonly record struct Probe(long Id, SiloAddress From, long Version);
