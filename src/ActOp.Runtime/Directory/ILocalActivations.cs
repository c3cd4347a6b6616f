namespace ActOp.Runtime.Directory;

/// <summary>The activations of this silo, as the directory needs them to rebuild slots whose owner was lost.</summary>
internal interface ILocalActivations
{
    /// <summary>Adds all activations in these slots that are marked as registered, with the epoch of their registration.</summary>
    void CollectRegistered(SlotSet slots, List<Registration> into);
}
