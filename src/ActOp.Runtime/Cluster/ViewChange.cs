using System.Collections.Immutable;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>What changed between two views.</summary>
/// <param name="Joined">Silos that became active.</param>
/// <param name="Left">Silos that were active and no longer are, dead or not.</param>
/// <param name="Died">Silos that were alive in the older view and are dead or gone in the newer, with the cause.</param>
internal sealed record ViewChange(ImmutableArray<SiloAddress> Joined, ImmutableArray<SiloAddress> Left, ImmutableArray<Member> Died);
