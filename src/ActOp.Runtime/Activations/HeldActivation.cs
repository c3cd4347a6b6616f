using ActOp.Calls;
using ActOp.Runtime.Timers;
using ActOp.Staging;
using ActOp.Staging.Groups;

namespace ActOp.Runtime.Activations;

/// <summary>
/// Holds an activation whose next request costs more than what its group has left, and brings it back: the stage runs it when the next
/// interval begins, or when nothing else may run. One for each activation whose requests have costs.
/// </summary>
/// <remarks>
/// Belongs to the turns of the activation, except <see cref="Execute"/>, which any thread of the stage runs. Failures. The activation ends,
/// or the request is dropped, while it is held: there is nothing to start afterwards. It is held twice: it comes back twice, which does no
/// harm.
/// </remarks>
internal sealed class HeldActivation(Activation activation) : IStageItem
{
    /// <summary>The next request waits for time, and those behind it, so that they keep their order.</summary>
    internal bool Waits { get; private set; }

    StageGroup? IStageItem.Group => activation.Home.TimeOf;

    /// <summary>Whether the group has time for what a request costs, as far as that is known. If not, the activation is held.</summary>
    internal static bool HasTimeFor(Activation activation, Call call)
    {
        if (activation.Home.Group is not { Costs: { } costs } group || call is TimerCall)
            return true;
        var cost = costs.FindCost(call, activation.GrainId, activation.Class.Type);
        if (cost <= 0 || activation.Parts.Abandoned.IsAbandoned(call))
            return true;
        var held = activation.Extras.Held ??= new HeldActivation(activation);
        held.Waits = !Worker.TryReserve(group.OfStage, cost, held);
        return !held.Waits;
    }

    /// <summary>After this item the activation starts what waits.</summary>
    public void Execute() => activation.Enqueue(new ActionItem(static held => ((HeldActivation)held!).Waits = false, this));
}
