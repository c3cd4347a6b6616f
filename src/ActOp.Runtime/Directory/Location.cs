using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>Where a grain is activated.</summary>
/// <param name="Silo">The silo; null for "nowhere" (<c>default</c>).</param>
/// <param name="Activation">The activation, unique for ever.</param>
/// <param name="Epoch">
/// Rises with every registration of the grain: the view in which the slot's owner served it in the upper 24 bits, the owner's count in the
/// lower 40. The higher epoch is the newer location, whoever says so. 0: not registered yet.
/// </param>
[Orleans.GenerateSerializer]
internal readonly record struct Location(SiloAddress Silo, ActivationId Activation, long Epoch)
{
    /// <summary>Whether this is no location.</summary>
    public bool IsNone => Silo is null;

    /// <summary>Whether both name the same activation, whatever their epochs.</summary>
    public bool IsSameActivation(in Location other) => Activation.Equals(other.Activation) && Equals(Silo, other.Silo);
}
