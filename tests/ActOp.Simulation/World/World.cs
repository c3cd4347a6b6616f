using ActOp.Testing.Simulated;

namespace ActOp.Simulation.World;

/// <summary>The world of a run of the simulator: what it is about.</summary>
internal sealed class World(ulong seed, Settings settings, IWorldWatcher watcher, TextWriter? trace)
    : SimulatedWorld(seed, settings, watcher, trace)
{
    /// <summary>What the run is about.</summary>
    internal Theme Theme { get; init; }

    /// <summary>The run plays a scenario: only what it says happens.</summary>
    internal bool IsScripted { get; init; }
}
