using System.Collections.Immutable;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>One part of the answer to a <see cref="SlotRequest"/>.</summary>
/// <param name="Id">The request's number.</param>
/// <param name="Attempt">The request's attempt.</param>
/// <param name="From">Who answers.</param>
/// <param name="View">The answerer's view. When it is not the requested one, the reply says only that.</param>
/// <param name="Part">Number of this part, from 0.</param>
/// <param name="Parts">How many parts there are.</param>
/// <param name="Entries">Registrations.</param>
[Orleans.GenerateSerializer]
internal sealed record SlotReply(long Id, int Attempt, SiloAddress From, long View, int Part, int Parts, ImmutableArray<Registration> Entries)
{
    /// <summary>Hand-over: requested slots that the answerer does not hold (in part 0).</summary>
    [Orleans.Id(11)]
    public SlotSet? Missing { get; init; }

    /// <summary>Hand-over: slots with a running lease and how many milliseconds remain (in part 0).</summary>
    [Orleans.Id(12)]
    public ImmutableArray<SlotLease> Leases { get; init; } = [];
}
