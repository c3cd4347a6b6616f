using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>
/// One slot as one silo sees it. Guarded by a lock on the object itself: the slot is the unit of lock, transfer and recovery.
/// </summary>
internal sealed class Slot
{
    private const int CountBits = 40;
    private long _count;

    /// <summary>What this silo is to the slot.</summary>
    public SlotState State { get; set; }

    /// <summary>The registrations; null for none.</summary>
    public SlotEntries? Entries { get; set; }

    /// <summary>Ready: the newest view in which the slot is surely served by this silo alone.</summary>
    public long ServedView { get; private set; }

    /// <summary>Until when grains that are not registered may still run somewhere.</summary>
    public long LeaseUntil { get; set; }

    /// <summary>Waiting: who hands over; null when it must be recovered. Sealed: for whom.</summary>
    public SiloAddress? Partner { get; set; }

    /// <summary>Sealed: since when.</summary>
    public long SealedAt { get; set; }

    /// <summary>The epoch of the next registration.</summary>
    public long NextEpoch() => (ServedView << CountBits) | (++_count & ((1L << CountBits) - 1));

    /// <summary>The view in which a registration with this epoch was made.</summary>
    public static long ViewOf(long epoch) => epoch >> CountBits;

    /// <summary>Serves from this view on.</summary>
    public void Serve(long view)
    {
        // The count need not restart: with the larger view in front every epoch is larger than any before.
        State = SlotState.Ready;
        ServedView = view;
        Partner = null;
    }

    /// <summary>Forgets everything.</summary>
    public void Drop()
    {
        State = SlotState.NotOwned;
        Entries = null;
        LeaseUntil = 0;
        Partner = null;
    }
}
