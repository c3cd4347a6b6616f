using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>The answer to a <see cref="Probe"/>.</summary>
/// <param name="Id">The probe's number.</param>
/// <param name="From">Who answers.</param>
/// <param name="Version">The answerer's table version.</param>
/// <param name="Age">How long ago, in milliseconds, the answerer knows the table to have been at this version or an older one.</param>
[Orleans.GenerateSerializer]
internal readonly record struct ProbeAnswer(long Id, SiloAddress From, long Version, long Age);
