using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>
/// One silo's standing opinion that another is gone. It holds until the voter withdraws it or is dead itself; no wall clock is involved.
/// </summary>
/// <param name="Voter">Who votes.</param>
/// <param name="View">The view in which the vote was cast.</param>
/// <param name="Refused">Whether the voter's connections were refused (the process is gone) rather than unanswered.</param>
[Orleans.GenerateSerializer]
internal readonly record struct Vote(SiloAddress Voter, long View, bool Refused);
