using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>A wish to register an activation.</summary>
/// <param name="Grain">The grain.</param>
/// <param name="Silo">Where the activation is.</param>
/// <param name="Activation">The activation.</param>
/// <param name="Previous">The activation that it takes over from (migration), which must be registered; default for none.</param>
[Orleans.GenerateSerializer]
internal readonly record struct RegisterRequest(GrainId Grain, SiloAddress Silo, ActivationId Activation, ActivationId Previous = default);
