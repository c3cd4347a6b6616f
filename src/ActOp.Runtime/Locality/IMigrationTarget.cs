using ActOp.Runtime.Directory;
using Orleans;

namespace ActOp.Runtime.Locality;

/// <summary>Takes activations of other silos.</summary>
internal interface IMigrationTarget : ISystemTarget
{
    /// <summary>Begins the activation with the state it carries; answers where the grain is then.</summary>
    ValueTask<Location> Accept(Registration previous, Dictionary<string, byte[]> values);
}
