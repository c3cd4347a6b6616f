using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>The answer to an <see cref="IndirectProbe"/>.</summary>
/// <param name="Id">The request's number.</param>
/// <param name="From">Who probed.</param>
/// <param name="Target">The silo in doubt.</param>
/// <param name="Reached">Whether it answered.</param>
/// <param name="Refused">Whether its host refused the connection.</param>
/// <param name="Health">The prober's own health score: the word of a sick silo does not count.</param>
[Orleans.GenerateSerializer]
internal readonly record struct IndirectAnswer(long Id, SiloAddress From, SiloAddress Target, bool Reached, bool Refused, int Health);
