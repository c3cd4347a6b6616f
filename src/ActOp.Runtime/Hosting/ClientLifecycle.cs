using Orleans;

namespace ActOp.Runtime.Hosting;

/// <summary>The stages of a client's start and stop.</summary>
internal sealed class ClientLifecycle : StagedLifecycle, IClusterClientLifecycle;
