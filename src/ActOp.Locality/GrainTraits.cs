using ActOp.Configuration;
using ActOp.Partitioning;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Locality;

/// <summary>
/// Which grains of this silo may move: by default those that lose no state. A grain loses no state if it, or a part of the application,
/// takes part in migration, if its class is known to hold no state beside persistent state that is carried, or if it is marked as movable.
/// A grain moves only to silos that host its class. All grains count equally: sizes are not measured.
/// </summary>
/// <remarks><see cref="CanMove"/> is called on the locality turn. The other members may be called on any thread and return a snapshot that
/// may be outdated.</remarks>
internal sealed class GrainTraits(
    ActivationTable activations, LocalityOptions options, ClusterManifests manifests, SiloNumbers silos, Action<Type> tellUnmovable)
    : IVertexTraits<GrainId>
{
    private readonly HashSet<Type> _told = [];

    public bool CanMove(GrainId vertex)
    {
        if (!activations.TryGet(vertex, out var activation) || !IsMovedByLocality(activation))
            return false;
        if (!LosesState(activation))
            return true;
        if (_told.Add(activation.Class.Type))
            tellUnmovable(activation.Class.Type);
        return false;
    }

    public bool CanMoveTo(GrainId vertex, int silo) => IsHostedBy(silos.SiloOf(silo), vertex);

    public double SizeOf(GrainId vertex) => 1;

    /// <summary>Whether the silo is known to host the class of the grain.</summary>
    internal bool IsHostedBy(SiloAddress silo, GrainId grain) =>
        manifests.Known is var known && (known.AreAlike || known.Hosts(silo, grain.Type));

    internal bool MayMove(Activation activation) => IsMovedByLocality(activation) && !LosesState(activation);

    /// <summary>Whether the activation is not moved only because it would lose state.</summary>
    internal bool WouldLose(Activation activation) => IsMovedByLocality(activation) && LosesState(activation);

    private static bool IsMovedByLocality(Activation activation) =>
        activation is { State: ActivationState.Active, Class: { IsOrdinary: true, Immovable: false, UsesDirectory: true } };

    private bool LosesState(Activation activation)
    {
        if (options.Moves == MovableGrains.All || activation.Class.Movable)
            return false;
        var carried = activation.CarriedState;
        // An opportunistic move transfers no state.
        var leavesBehind = options.Migration == MigrationMode.Live
            ? carried & CarriedState.LeftBehind
            : carried & (CarriedState.LeftBehind | CarriedState.Persistent);
        if (leavesBehind != CarriedState.None)
            return true;
        if (options.Migration == MigrationMode.Live && carried.HasFlag(CarriedState.ByItself))
            return false;
        // What is not persistent state must be none that counts.
        return !activation.Class.HoldsNoState || activation.HasLateTimer;
    }
}
