using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>A grain and where it is registered.</summary>
[Orleans.GenerateSerializer]
internal readonly record struct Registration(GrainId Grain, Location Location);
