using ActOp.Partitioning;
using Microsoft.Extensions.Logging;
using Orleans.Runtime.Placement;

namespace ActOp.Orleans.Locality;

/// <summary>
/// Moves activations, each when no request of it runs: it sends the activation a request of its own, which waits its turn, begins the
/// migration of Orleans with the placement hint, and ends when the activation takes no further request. So no request of the application
/// begins between the decision and the move, and none that runs waits for one that is held back.
/// </summary>
/// <remarks>Any thread. Nothing is kept between moves.</remarks>
internal sealed class Moves(LocalGrains grains, IGrainFactory factory, LocalityTurns turns, TimeProvider time)
{
    /// <summary>Time within which a grain must be free; otherwise it stays.</summary>
    private static readonly TimeSpan RestTime = TimeSpan.FromMilliseconds(300);

    /// <summary>After this long the activation counts as not moved: its hooks take long, or its target does not answer.</summary>
    private static readonly TimeSpan LeaveTime = TimeSpan.FromSeconds(10);

    /// <summary>Moves one grain.</summary>
    /// <returns>How it ended; null if it has left.</returns>
    internal async Task<string?> MoveAsync(GrainId id, SiloAddress target)
    {
        if (!grains.TryGet(id, out var grain))
            return "gone";
        if (!grains.Kinds.IsHostedBy(target, id.Type))
            return "not hosted";
        if (!grain.TryWant())
            return "moves";
        var leaves = false;
        try
        {
            var outcome = await AskAsync(grain, id, target).ConfigureAwait(false);
            leaves = outcome == MoveOutcome.Leaving;
            if (!leaves)
                return outcome.ToString();
            await grain.Context.Deactivated.WaitAsync(LeaveTime, time).ConfigureAwait(false);
            return null;
        }
        catch (TimeoutException)
        {
            return "slow";
        }
        finally
        {
            // One that leaves is on its way, not gone: its edges go on.
            if (!leaves)
                grain.EndWant();
        }
    }

    private async Task<MoveOutcome> AskAsync(LocalGrain grain, GrainId id, SiloAddress target)
    {
        var request = factory.GetGrain<IMoveExtension>(id).Move(target, grain.Context.ActivationId);
        await ((Task)request).WaitAsync(RestTime, time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (request.IsCompleted)
            return await request.ConfigureAwait(false);
        turns.Follow(request, "a request to move");
        // It may have begun at this moment.
        return grain.GiveUpWant() ? MoveOutcome.Busy : await request.ConfigureAwait(false);
    }
}

/// <summary>The request that a grain gets to move. It runs as a turn of the activation.</summary>
internal sealed class MoveExtension(IGrainContextAccessor accessor, LocalGrains grains, TimeProvider time) : IMoveExtension
{
    /// <summary>
    /// Time within which Orleans must choose the target, which it does by the hint without a call. Until then the grain takes no request.
    /// </summary>
    private static readonly TimeSpan BeginTime = TimeSpan.FromMilliseconds(500);

    public async Task<MoveOutcome> Move(SiloAddress target, ActivationId activation)
    {
        var context = accessor.GrainContext;
        if (!context.ActivationId.Equals(activation) || !grains.TryGet(context.GrainId, out var grain))
            return MoveOutcome.Gone;
        // This request is one that runs.
        if (!grain.BeginWant() || (grain.Kind.Interleaves && grain.Running > 1))
            return MoveOutcome.Busy;
        var leaves = grain.ExpectToLeave();
        using var given = new CancellationTokenSource(BeginTime, time);
        // What Orleans has not begun when the time is up, it does not begin later.
        context.Migrate(new Dictionary<string, object> { [IPlacementDirector.PlacementHintKey] = target }, given.Token);
        await leaves.WaitAsync(given.Token)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        return leaves.IsCompleted ? MoveOutcome.Leaving : MoveOutcome.Refused;
    }
}

/// <summary>Which grains of this silo may move, for the exchange. All grains count equally. Belongs to the turns of locality.</summary>
internal sealed class MovableTraits(
    LocalGrains grains, SiloNumbers silos, LocalityOptions options, Func<TimeSpan> now, ILogger log)
    : IVertexTraits<GrainId>
{
    private const int RefusalsToPause = 3;

    private static readonly TimeSpan Pause = TimeSpan.FromMinutes(10);

    private readonly HashSet<Type> _told = [];
    private readonly Dictionary<GrainType, (int Refusals, TimeSpan Until)> _refused = [];

    public bool CanMove(GrainId vertex)
    {
        if (!grains.TryGet(vertex, out var grain) || grain.Kind.IsPinned || IsPaused(vertex.Type))
            return false;
        if (!WouldLose(grain))
            return true;
        if (_told.Add(grain.Kind.Class!))
            log.Unmovable(grain.Kind.Class!);
        return false;
    }

    public bool CanMoveTo(GrainId vertex, int silo) => grains.Kinds.IsHostedBy(silos.SiloOf(silo), vertex.Type);

    public double SizeOf(GrainId vertex) => 1;

    /// <summary>Whether the grain stays only because it would lose state.</summary>
    internal bool WouldLose(LocalGrain grain) =>
        options.Moves != MovableGrains.All && grain.Kind is { IsPinned: false, LosesState: true };

    /// <summary>Orleans did not begin a move of a grain of this type. A few times in a row, and the type pauses.</summary>
    internal void Refused(GrainType type)
    {
        var refusals = _refused.GetValueOrDefault(type).Refusals + 1;
        _refused[type] = (refusals, refusals % RefusalsToPause == 0 ? now() + Pause : TimeSpan.Zero);
        if (refusals % RefusalsToPause == 0)
            log.Refused(type, Pause.TotalMinutes);
    }

    internal void Left(GrainType type) => _refused.Remove(type);

    private bool IsPaused(GrainType type) => _refused.TryGetValue(type, out var refused) && now() < refused.Until;
}
