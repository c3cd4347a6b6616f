using ActOp.Configuration;
using ActOp.Partitioning;
using ActOp.Runtime.Activations;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>
/// Which grains of this silo may move: by default those that lose nothing. A grain loses nothing when it takes part in migration, itself or
/// by a part of it (state that is stored and carried takes part in this way), when its class is known to hold no state, or when its author
/// says so. All count alike: sizes are not measured.
/// </summary>
/// <remarks><see cref="CanMove"/> belongs to the locality turn; the rest may be asked anywhere, as a moment's truth.</remarks>
internal sealed class GrainTraits(ActivationTable activations, LocalityOptions options, Action<Type> tellUnmovable) : IVertexTraits<GrainId>
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

    public double SizeOf(GrainId vertex) => 1;

    internal bool MayMove(Activation activation) => IsMovedByLocality(activation) && !LosesState(activation);

    /// <summary>The activation stays only because of what it would lose.</summary>
    internal bool WouldLose(Activation activation) => IsMovedByLocality(activation) && LosesState(activation);

    private static bool IsMovedByLocality(Activation activation) =>
        activation is { State: ActivationState.Active, Class: { IsOrdinary: true, Immovable: false, UsesDirectory: true } };

    private bool LosesState(Activation activation)
    {
        if (options.Moves == MovableGrains.All || activation.Class.Movable)
            return false;
        // An opportunistic move carries nothing.
        if (options.Migration == MigrationMode.Live && activation.TakesPartInMigration)
            return false;
        return !activation.Class.HoldsNoState || activation.HasLateTimer;
    }
}
