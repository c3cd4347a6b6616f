namespace ActOp.Runtime.Activations;

/// <summary>The life of an activation, in order.</summary>
internal enum ActivationState
{
    /// <summary>Being constructed, registered and activated: requests wait.</summary>
    Activating,

    /// <summary>Takes requests.</summary>
    Active,

    /// <summary>Ending: requests wait and go elsewhere afterwards.</summary>
    Deactivating,

    /// <summary>Ended: requests that still arrive are sent on.</summary>
    Gone,
}
