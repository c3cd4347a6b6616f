using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>A new owner asks for slots.</summary>
/// <param name="Id">Number that the replies repeat.</param>
/// <param name="Attempt">Counts how often it was sent; parts of answers to different attempts are not mixed.</param>
/// <param name="From">The new owner.</param>
/// <param name="View">The view in which it owns them; the receiver must be in exactly this view to answer.</param>
/// <param name="Recovery">False: hand over your sealed entries. True: the old owner is lost, report your own activations in them.</param>
/// <param name="Slots">Which slots.</param>
[Orleans.GenerateSerializer]
internal sealed record SlotRequest(long Id, int Attempt, SiloAddress From, long View, bool Recovery, SlotSet Slots);
