namespace ActOp.Runtime.Directory;

/// <summary>What a silo is to a slot.</summary>
internal enum SlotState : byte
{
    /// <summary>Nothing.</summary>
    NotOwned = 0,

    /// <summary>Its owner in this view, without its entries yet.</summary>
    Waiting = 1,

    /// <summary>Its owner, serving it.</summary>
    Ready = 2,

    /// <summary>Its last owner, holding the entries for the next one.</summary>
    Sealed = 3,
}
