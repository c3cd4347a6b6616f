using Orleans.Runtime;

namespace ActOp.Runtime.Hosting;

/// <summary>The stages of a silo's start and stop.</summary>
internal sealed class SiloLifecycle : StagedLifecycle, ISiloLifecycle
{
    int ISiloLifecycle.HighestCompletedStage => HighestCompletedStage;

    int ISiloLifecycle.LowestStoppedStage => LowestStoppedStage;
}
