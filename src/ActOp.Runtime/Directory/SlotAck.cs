using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>The new owner has applied a hand-over; the old one may forget it.</summary>
[Orleans.GenerateSerializer]
internal sealed record SlotAck(SiloAddress From, long View, SlotSet Slots);
