using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using Orleans;
using Orleans.Runtime;
using Orleans.Runtime.Diagnostics;

namespace ActOp.Runtime.Activations;

/// <summary>
/// The end of one activation: its reason, the target of a migration, and the steps in order. Created by the first request for an end or a
/// migration.
/// </summary>
/// <remarks>
/// Runs on the turns of the activation. DeactivationTimeout limits all steps of grain code together. Each step may throw, hang or end late;
/// the other steps run anyway:
/// <list type="table">
/// <item><term>the start has failed</term><description> The instance and its scope are disposed first. Then the calls of the next 5 s are
/// refused with the exception, before the activation is unregistered. </description></item>
/// <item><term>timers</term><description> A callback on the token of a timer throws: logged. A timer that is created from here on never
/// ticks.
/// </description></item>
/// <item><term>OnDeactivateAsync, lifecycle stages</term><description> Throw: logged. Hang: no longer awaited when the time is over, with a
/// log line; their token is cancelled then. </description></item>
/// <item><term>choose a target, OnDehydrate, send</term><description> Throw or hang: logged. The response timeout limits the send. If the
/// target has not asked for the grain by then (<see cref="HandOver"/>), a new activation of this silo gets the state, and the target
/// ends. If it has asked, the grain has moved, with or without the answer. A silo that stops creates no new one. </description></item>
/// <item><term>unregister</term><description> Throws: logged; a new activation of this silo takes over the entry, and other silos clear
/// it. Hangs: the timeout of the directory client ends it. An activation that has arrived and has run no turn gives the registration back
/// instead. If it is not known whether there is one, it is removed last, so that no request waits for a directory that does not answer.
/// </description></item>
/// <item><term>leave</term><description> Cannot fail. From here on requests are forwarded, including those that waited; ticks of its timers
/// are dropped. </description></item>
/// <item><term>dispose instance, dispose scope</term><description> Throw: logged. Hang: no longer awaited when the time is over, with a log
/// line.
/// </description></item>
/// </list>
/// The order of the steps, and what requests do meanwhile, is that of <see cref="LifeMachine"/>.
/// A failure that none of this has caught goes to <see cref="ActivationLife.Supervise"/>.
/// </remarks>
internal sealed class Departure(Activation activation, MigrationRequest? request = null)
{
    /// <summary>How long a grain refuses calls after a start that has failed. The value of Orleans.</summary>
    private static readonly TimeSpan RefusalAfterFailure = TimeSpan.FromSeconds(5);

    private CancellationTokenSource? _cancellation;
    private CancellationTokenSource? _refusalEnds;
    private TaskCompletionSource<SiloAddress?>? _chosen;
    private RequestContextData? _context;
    private object? _trace;
    private MigrationState? _state;
    private DeactivationReason _reason;
    private long _decidedAt;
    private bool _hasMoved;

    /// <summary>See <see cref="ActivationLife.Doubt"/>. A grain has few states.</summary>
    private IStateSource[] _doubtful = [];

    /// <summary>
    /// True while requests may still start beside running ones, because these may wait for them. Requests that always overlap must not
    /// delay the end forever, so this is false after DeactivationTimeout.
    /// </summary>
    internal bool MayJoin => activation.Parts.Collection.DeactivationTimeout is { Ticks: < 0 }
        || activation.Parts.Local.Clock.Now - _decidedAt < (long)activation.Parts.Collection.DeactivationTimeout.TotalMilliseconds;

    /// <summary>A state of the grain is in doubt: see <see cref="ActivationLife.Doubt"/>.</summary>
    internal bool IsInDoubt => _doubtful.Length > 0;

    /// <summary>A state of the grain is known to be outdated, and nothing is under way that may mend it.</summary>
    internal bool IsOutdated => Array.Exists(_doubtful, static state => state.IsOutdated);

    /// <summary>The location of the grain after its migration.</summary>
    internal Location MovedTo { get; private set; }

    /// <summary>The exception of a start that has failed: calls are refused with it until the activation has left.</summary>
    internal Exception? RefusesWith { get; private set; }

    /// <summary>The activation has arrived and has run no turn: this one gets the registration back. Null otherwise.</summary>
    internal Registration? GivesBackTo { get; set; }

    /// <summary>The start has failed.</summary>
    internal void Refuse(Exception failure) => RefusesWith = failure;

    /// <summary>Whether the time of the refusal has begun and not ended. For tests.</summary>
    internal bool IsRefusing => Volatile.Read(ref _refusalEnds) is not null;

    /// <summary>The silo stops: nothing waits any longer than it must.</summary>
    internal void Hurry() => _refusalEnds?.Cancel();

    internal void Doubt(IStateSource state)
    {
        if (!_doubtful.Contains(state))
            _doubtful = [.. _doubtful, state];
    }

    internal void Trust(IStateSource state) => _doubtful = [.. _doubtful.Where(one => !ReferenceEquals(one, state))];

    /// <summary>The end is decided.</summary>
    internal void Decide(DeactivationReason reason)
    {
        _reason = reason;
        _decidedAt = activation.Parts.Local.Clock.Now;
        _trace ??= GrainSpans.Current;
    }

    /// <summary>The migration request of the runtime takes effect. Returns the reason of the end.</summary>
    internal DeactivationReason TakeOffer()
    {
        _chosen = new TaskCompletionSource<SiloAddress?>();
        _chosen.SetResult(request!.Target);
        return MovesTo(request.Target);
    }

    /// <summary>Whether this is the migration request of the runtime.</summary>
    internal bool IsAsked(MigrationRequest asked) => ReferenceEquals(request, asked);

    /// <summary>The migration request of the runtime has no effect.</summary>
    internal void AnswerBusy()
    {
        request?.Report(MigrationOutcome.Busy);
        request = null;
    }

    /// <summary>Chooses a silo, with the request context of the request (a placement hint in it has precedence). If it is another one, the
    /// activation ends and migrates.</summary>
    internal void Choose(RequestContextData? context)
    {
        _context = context;
        _trace ??= GrainSpans.Current;
        _chosen = new TaskCompletionSource<SiloAddress?>(TaskCreationOptions.RunContinuationsAsynchronously);
        ActivationLife.Supervise(activation, ChooseAsync(_chosen));
    }

    internal void Start() => ActivationLife.Supervise(activation, RunAsync());

    private static DeactivationReason MovesTo(SiloAddress target) => new(DeactivationReasonCode.Migrating, "Moves to " + target + ".");

    private async Task ChooseAsync(TaskCompletionSource<SiloAddress?> chosen)
    {
        SiloAddress? target = null;
        try
        {
            (target, _) = await activation.Parts.Placement.PlaceAsync(activation.GrainId, default, _context, trace: _trace);
            if (target.Equals(activation.Parts.Local.Address))
                target = null;
        }
        catch (Exception exception)
        {
            // The last silo of a cluster has nowhere to send its grains when it stops.
            if (!activation.Parts.Local.IsStopping || activation.Parts.ClusterView.Active.Length > 0)
                activation.Parts.Local.Log.NoTarget(activation.GrainId, exception);
        }

        // The runtime may have named another target meanwhile.
        var isCurrent = ReferenceEquals(_chosen, chosen);
        if (target is null && isCurrent)
            _chosen = null;
        chosen.SetResult(target);
        if (isCurrent)
            activation.Life.OnTarget(activation, target is not null, target is null ? default : MovesTo(target));
    }

    private async Task RunAsync()
    {
        // The turn may be that of a request with another context.
        RequestContext.Current = null;
        using var span = new GrainSpan(activation.Life.HasBegun ? GrainSpans.Deactivating(activation, _reason, _trace) : null);
        var (parts, reason) = (activation.Parts, _reason);
        var isWatched = GrainLifecycleEvents.Feed.IsWatched && activation.Instance is not null;
        if (isWatched)
            GrainLifecycleEvents.Feed.Write(new GrainLifecycleEvents.Deactivating(activation, reason));
        var limit = new TimeLimit(parts.Local.TaskTime, parts.Collection.DeactivationTimeout);
        while (activation.Life.Phase < LifePhase.Over)
        {
            var moved = await RunStepAsync(activation.Life.Phase, limit);
            activation.Life.OnStepEnded(activation, moved);
        }

        if (isWatched)
            GrainLifecycleEvents.Feed.Write(new GrainLifecycleEvents.Deactivated(activation, reason));
    }

    /// <summary>One step of the end. True if another activation has the state.</summary>
    private async ValueTask<bool> RunStepAsync(LifePhase step, TimeLimit limit)
    {
        switch (step)
        {
            case LifePhase.Hooks:
                activation.StopTimers();
                if (activation.HasEndHooks || GrainSpans.Outer is not null)
                    await RunHooksAsync(limit);
                break;
            case LifePhase.Refusing:
                await DisposeAsync(limit);
                await RefuseForAWhileAsync();
                break;
            case LifePhase.Moving:
                _hasMoved = await TryMoveAsync(limit);
                return _hasMoved || TryReturn();
            case LifePhase.Unlisting:
                if (activation.Registered || GivesBackTo is not null)
                    await UnregisterAsync();
                if (activation.Life.HasBegun)
                    activation.Parts.Locality.Forget(activation.GrainId);
                break;
            default:
                await ReleaseAsync(limit);
                break;
        }

        return false;
    }

    private async Task ReleaseAsync(TimeLimit limit)
    {
        if (!MovedTo.IsNone)
            activation.Parts.Locations.SetLocation(activation.GrainId, MovedTo);
        activation.Remove();
        activation.ForwardWaiting();
        request?.Report(_hasMoved ? MigrationOutcome.Moved : MigrationOutcome.Failed);
        if (RefusesWith is null)
            await DisposeAsync(limit);
        if (activation.Life.Registration == RegistrationState.Unknown)
            await UnregisterAsync();
        Forget();
        activation.HasEnded();
        if (activation.Life.HasBegun)
            activation.Parts.Metrics.Deactivated(_hasMoved);
    }

    private async Task DisposeAsync(TimeLimit limit)
    {
        if (!activation.HasToDispose)
            return;
        await StepAsync("DisposeAsync", limit, activation.DisposeInstanceAsync);
        await StepAsync("The end of the service scope", limit, () => ActivationLife.DisposeScopeAsync(activation));
    }

    /// <summary>
    /// A grain that cannot start is not started again for each call: the activation stays registered and refuses the calls of the next
    /// seconds with its exception, as in Orleans. A silo that stops does not wait for this.
    /// </summary>
    private async Task RefuseForAWhileAsync()
    {
        using var end = new CancellationTokenSource();
        _refusalEnds = end;
        if (!activation.Parts.Local.IsStopping)
        {
            await Task.Delay(RefusalAfterFailure, activation.Parts.Local.TaskTime, end.Token).ConfigureAwait(
                ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        }

        _refusalEnds = null;
    }

    private async Task RunHooksAsync(TimeLimit limit)
    {
        var token = (_cancellation = new CancellationTokenSource()).Token;
        if (activation.Life.HasBegun && activation.Instance is IGrainBase grain)
            await StepAsync("OnDeactivateAsync", limit, () => EndTracedAsync(grain, token));
        await StepAsync("The end of the lifecycle", limit, () => activation.StopLifecycleAsync(token));
    }

    private Task EndTracedAsync(IGrainBase grain, CancellationToken token) => GrainSpans.Around(
        activation, GrainSpans.OnDeactivate, () => Given.Task(grain.OnDeactivateAsync(_reason, token), "OnDeactivateAsync"), _reason);

    /// <summary>Reports the failure of the migration and releases everything, after a failure that no step has caught.</summary>
    internal void Abandon()
    {
        request?.Report(MigrationOutcome.Failed);
        Forget();
    }

    /// <summary>References may keep the activation in memory; it needs only <see cref="MovedTo"/> from now on.</summary>
    private void Forget()
    {
        _context = null;
        _trace = null;
        _state = null;
        _reason = default;
        GivesBackTo = null;
        request = null;
    }

    /// <summary>Runs grain code and waits for it as long as time is left. Does not throw.</summary>
    private async Task StepAsync(string name, TimeLimit limit, Func<Task> step)
    {
        try
        {
            var running = Given.Task(step(), name);
            if (running.IsCompleted || await limit.EndsAsync(running))
            {
                await running;
                return;
            }

            activation.Parts.Local.Log.LeftBehind(name, activation.GrainId, limit.Length);
            activation.Parts.LogLateFailure(activation, running, name);
            if (_cancellation is not null)
                Turn.Cancel(_cancellation, activation);
        }
        catch (Exception exception)
        {
            activation.Parts.Local.Log.DeactivationFailed(activation.GrainId, exception);
        }
    }

    private async Task<bool> TryMoveAsync(TimeLimit limit)
    {
        var target = _chosen is { } chosen && await limit.EndsAsync(chosen.Task) ? await chosen.Task : null;
        if (target is null)
            return false;
        if (request is { Live: false })
        {
            activation.Parts.Hints.SetHint(activation.GrainId, target);
            await UnregisterAsync();
            return true;
        }

        try
        {
            RequestContext.Current = _context;
            var handOver = new HandOver(activation, target, new ActivationId(activation.Parts.Local.NewId()));
            _state = Dehydrate(new Registration(activation.GrainId, activation.Location), handOver);
            using var waiting = new GrainSpan(GrainSpans.Migrating(activation, GrainSpans.WaitMigration, target));
            MovedTo = await activation.Parts.Migrations.SendAsync(_state);
            return !MovedTo.IsNone;
        }
        catch (Exception exception)
        {
            activation.Parts.Local.Log.MigrationFailed(activation.GrainId, target, exception);
            return false;
        }
    }

    /// <summary>
    /// Continues on this silo if the state was not released to another one. An activation that was declared a duplicate meanwhile leaves
    /// the state to its target.
    /// </summary>
    private bool TryReturn()
    {
        if (_state is not { HandOver: { } handOver })
            return false;
        if (!activation.Registered || !activation.Parts.Local.AcceptsActivations || !handOver.TryTakeBack())
        {
            MovedTo = handOver.ReleasedTo;
            return false;
        }

        activation.Parts.Migrations.Forget(_state.Previous);
        return activation.Parts.Activations.TryReplace(activation, _state.Return(_context));
    }

    private async Task UnregisterAsync()
    {
        try
        {
            if (GivesBackTo is { } previous)
                await activation.Parts.Directory.GiveBackAsync(activation, previous);
            else
                await activation.Parts.Directory.UnregisterAsync(activation);
        }
        catch (Exception exception)
        {
            if (!activation.Parts.Local.IsStopping)
                activation.Parts.Local.Log.UnregistrationFailed(activation.GrainId, exception);
        }
    }

    private MigrationState Dehydrate(Registration previous, HandOver handOver)
    {
        var state = new MigrationState(activation.Parts.Calls, previous) { HandOver = handOver, Trace = GrainSpans.Outer ?? _trace };
        var isTaker = activation.Instance is IGrainMigrationParticipant;
        using var span = new GrainSpan(
            isTaker ? GrainSpans.Migrating(activation, GrainSpans.Dehydrate, handOver.Target) : null);
        foreach (var participant in activation.MigrationParticipants)
        {
            try
            {
                participant.OnDehydrate(state);
            }
            catch (Exception exception)
            {
                span.Fail(exception);
                activation.Parts.Local.Log.DehydrationFailed(activation.GrainId, exception);
            }
        }

        return state;
    }
}

/// <summary>A time limit that starts now, for steps of grain code. Steps that have not ended by then are not awaited any longer.</summary>
internal sealed class TimeLimit(TaskTime time, TimeSpan length)
{
    private readonly long _began = time.GetTimestamp();

    internal TimeSpan Length => length;

    /// <summary>Waits for the step as long as time is left. True if it has ended, even by a failure. Continues in the context of the
    /// caller.</summary>
    internal async Task<bool> EndsAsync(Task step)
    {
        if (!step.IsCompleted)
        {
            await step.WaitAsync(Left(), time).ConfigureAwait(
                ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        }

        return step.IsCompleted;
    }

    private TimeSpan Left()
    {
        if (length == Timeout.InfiniteTimeSpan)
            return length;
        var left = length - time.GetElapsedTime(_began);
        return left > TimeSpan.Zero ? left : TimeSpan.Zero;
    }
}
