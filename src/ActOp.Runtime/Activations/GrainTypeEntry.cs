using Orleans;

namespace ActOp.Runtime.Activations;

/// <summary>One grain class of a silo, as other processes learn of it.</summary>
/// <param name="GrainType">Its grain type.</param>
/// <param name="ClassName">The class's full name.</param>
/// <param name="Interfaces">Names of the grain interfaces it implements.</param>
/// <param name="IsGeneric">It is an open generic class: the grain type of a grain names the arguments.</param>
[GenerateSerializer]
internal sealed record GrainTypeEntry([property: Id(0)] string GrainType, [property: Id(1)] string ClassName, [property: Id(2)] string[] Interfaces, [property: Id(3)] bool IsGeneric);
