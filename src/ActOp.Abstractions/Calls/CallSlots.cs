namespace ActOp.Calls;

/// <summary>Constants of <see cref="CallRegistry"/>. The interleaving tests replace them by smaller ones.</summary>
internal static class CallSlots
{
    /// <summary>Slots of a chunk: as many as a tick reads at once.</summary>
    internal const int ChunkBits = 10;

    /// <summary>Four million calls in flight; further calls are refused.</summary>
    internal const int SlotBits = 22;

    /// <summary>Tickets of a magazine: if one thread sends and another answers, one exchange for this many calls.</summary>
    internal const int MagazineSize = 64;
}
