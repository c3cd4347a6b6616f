using ActOp.Runtime.Directory;
using ActOp.Runtime.Locality;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>The end of one activation, from the first wish for it: why, where to, and the steps in order. Made when it is needed.</summary>
/// <remarks>
/// Runs on the activation's turns. The code of the grain has DeactivationTimeout for all of its steps together. Each step may throw, hang
/// or come late, and none keeps the others from happening:
/// <list type="table">
/// <item><term>timers</term><description> A callback on a timer's token throws: logged. A timer that is made from here on never ticks.
/// </description></item>
/// <item><term>OnDeactivateAsync, lifecycle stages</term><description> Throw: logged. Hang: left behind when the time is over, with a log
/// line; their token is signalled then. </description></item>
/// <item><term>choose a target, OnDehydrate, send</term><description> Throw or hang: logged. The send ends by the response timeout. What
/// was to be carried goes to a new activation of this silo, which asks the directory to take over from this one, as the target does: one of
/// them is registered, and the other ends. On a silo that ends there is no new one. </description></item>
/// <item><term>unregister</term><description> Throws: logged; a new activation of this silo takes the entry over, and others clear it.
/// Hangs: ends by the directory client's patience. </description></item>
/// <item><term>leave</term><description> Cannot fail. From here on requests go elsewhere, also those that waited; ticks of its timers die
/// here. </description></item>
/// <item><term>dispose instance, dispose scope</term><description> Throw: logged. Hang: left behind when the time is over, with a log line.
/// </description></item>
/// <item><term>another wish to end meanwhile</term><description>Changes nothing: the first reason counts.</description></item>
/// <item><term>MigrateOnIdle meanwhile</term><description> Heeded until OnDeactivateAsync and the stages have ended; later it changes
/// nothing. </description></item>
/// </list>
/// What none of this has caught ends in <see cref="ActivationLife.Supervise"/>.
/// </remarks>
internal sealed class Departure(Activation activation, MigrationRequest? request = null)
{
    private CancellationTokenSource? _cancellation;
    private TaskCompletionSource<SiloAddress?>? _chosen;
    private RequestContextData? _context;
    private MigrationState? _state;
    private DeactivationReason _reason;
    private long _decidedAt;
    private bool _isPastMoving;
    private bool _hasBegun;

    /// <summary>The activation ends, as soon as no request runs.</summary>
    internal bool IsDecided { get; private set; }

    /// <summary>
    /// True while requests may still begin beside those that run, which may wait for them. Requests that always overlap must not keep the
    /// activation for ever, so this ends after DeactivationTimeout.
    /// </summary>
    internal bool MayJoin => !IsDecided || activation.Parts.Collection.DeactivationTimeout is { Ticks: < 0 }
        || activation.Parts.Local.Clock.Now - _decidedAt < (long)activation.Parts.Collection.DeactivationTimeout.TotalMilliseconds;

    /// <summary>Somebody still wants it.</summary>
    internal bool IsRequested => request is not null || _chosen is not null;

    /// <summary>Where the grain is, once it has moved.</summary>
    internal Location MovedTo { get; private set; }

    internal void Decide(DeactivationReason reason)
    {
        IsDecided = true;
        _reason = reason;
        _decidedAt = activation.Parts.Local.Clock.Now;
    }

    /// <summary>No request runs: the runtime's wish to move is granted now. False while a target is being chosen and nothing else is
    /// wanted.</summary>
    internal bool DecideAtRest()
    {
        if (IsDecided)
            return true;
        if (request is null)
            return false;
        _chosen = new TaskCompletionSource<SiloAddress?>();
        _chosen.SetResult(request.Target);
        Decide(MovesTo(request.Target));
        return true;
    }

    /// <summary>The runtime no longer wants the activation to move; true if nothing else does.</summary>
    internal bool Withdraw(MigrationRequest withdrawn)
    {
        if (!ReferenceEquals(request, withdrawn))
            return false;
        withdrawn.Report(MigrationOutcome.Busy);
        request = null;
        return !IsRequested;
    }

    /// <summary>Chooses a silo, with the request context of whoever asks (a placement hint in it wins). If it is another one, the
    /// activation ends and moves.</summary>
    internal void Move(RequestContextData? context)
    {
        if (_chosen is not null || _isPastMoving)
            return;
        _context = context;
        _chosen = new TaskCompletionSource<SiloAddress?>(TaskCreationOptions.RunContinuationsAsynchronously);
        ActivationLife.Supervise(activation, ChooseAsync(_chosen));
    }

    internal void Start(bool hasBegun)
    {
        _hasBegun = hasBegun;
        ActivationLife.Supervise(activation, RunAsync());
    }

    private static DeactivationReason MovesTo(SiloAddress target) => new(DeactivationReasonCode.Migrating, "Moves to " + target + ".");

    private async Task ChooseAsync(TaskCompletionSource<SiloAddress?> chosen)
    {
        SiloAddress? target = null;
        try
        {
            target = await activation.Parts.Placement.PlaceAsync(activation.Class, activation.GrainId, activation.Parts.Local.Address, _context);
            if (target.Equals(activation.Parts.Local.Address))
                target = null;
        }
        catch (Exception exception)
        {
            activation.Parts.Local.Log.NoTarget(activation.GrainId, exception);
        }

        if (target is null && ReferenceEquals(_chosen, chosen))
            _chosen = null;
        chosen.SetResult(target);
        if (target is not null)
            activation.Life.RequestEnd(activation, MovesTo(target));
        else
            activation.Life.ForgetDeparture();
    }

    private async Task RunAsync()
    {
        // The turn may be one of a request, whose context is not this one's.
        RequestContext.Current = null;
        var parts = activation.Parts;
        var limit = new TimeLimit(parts.Local.Time, parts.Collection.DeactivationTimeout);
        activation.StopTimers();
        if (activation.HasEndHooks)
            await RunHooksAsync(limit);
        var moved = _hasBegun && await TryMoveAsync(limit);
        if (!moved && !TryReturn())
        {
            await UnregisterAsync();
            if (_hasBegun)
                parts.Locality.Forget(activation.GrainId);
        }

        if (!MovedTo.IsNone)
            parts.Locations.Put(activation.GrainId, MovedTo);
        activation.Remove();
        activation.ForwardWaiting();
        request?.Report(moved ? MigrationOutcome.Moved : MigrationOutcome.Failed);
        if (activation.HasToDispose)
        {
            await StepAsync("DisposeAsync", limit, activation.DisposeInstanceAsync);
            await StepAsync("The end of the service scope", limit, () => ActivationLife.DisposeScopeAsync(activation));
        }

        Forget();
        activation.HasEnded();
        if (_hasBegun)
            parts.Metrics.Deactivated(moved);
    }

    private async Task RunHooksAsync(TimeLimit limit)
    {
        var token = (_cancellation = new CancellationTokenSource()).Token;
        if (_hasBegun && activation.Instance is IGrainBase grain)
            await StepAsync("OnDeactivateAsync", limit, () => grain.OnDeactivateAsync(_reason, token));
        await StepAsync("The end of the lifecycle", limit, () => activation.StopLifecycleAsync(token));
    }

    /// <summary>A failure that no step has caught ends the activation where it is.</summary>
    internal void Abandon()
    {
        request?.Report(MigrationOutcome.Failed);
        Forget();
    }

    /// <summary>References to the activation may live on; only where it has gone is still of use.</summary>
    private void Forget()
    {
        _context = null;
        _state = null;
        _reason = default;
        request = null;
    }

    /// <summary>Runs code of the grain for as long as time is left. Throws nothing.</summary>
    private async Task StepAsync(string name, TimeLimit limit, Func<Task> step)
    {
        try
        {
            var running = step();
            if (running.IsCompleted || await limit.EndsAsync(running))
            {
                await running;
                return;
            }

            activation.Parts.Local.Log.LeftBehind(name, activation.GrainId, limit.Length);
            activation.LogLateFailure(running, name);
            if (_cancellation is not null)
                activation.Cancel(_cancellation);
        }
        catch (Exception exception)
        {
            activation.Parts.Local.Log.DeactivationFailed(activation.GrainId, exception);
        }
    }

    private async Task<bool> TryMoveAsync(TimeLimit limit)
    {
        var target = _chosen is { } chosen && await limit.EndsAsync(chosen.Task) ? await chosen.Task : null;
        _isPastMoving = true;
        if (target is null)
            return false;
        if (request is { Live: false })
        {
            activation.Parts.Hints.Put(activation.GrainId, target);
            await UnregisterAsync();
            return true;
        }

        try
        {
            RequestContext.Current = _context;
            _state = Dehydrate(new Registration(activation.GrainId, activation.Location));
            MovedTo = await activation.Parts.Migrations.SendAsync(target, _state);
            return !MovedTo.IsNone;
        }
        catch (Exception exception)
        {
            activation.Parts.Local.Log.MigrationFailed(activation.GrainId, target, exception);
            return false;
        }
    }

    /// <summary>Nobody has taken the state, or nobody has said so: it goes on here.</summary>
    private bool TryReturn() =>
        _state is not null && activation.Registered && activation.Parts.Local.AcceptsActivations && activation.Parts.Activations.TryReplace(activation, _state.Return(_context));

    private async Task UnregisterAsync()
    {
        try
        {
            await activation.Parts.Directory.UnregisterAsync(activation);
        }
        catch (Exception exception)
        {
            if (!activation.Parts.Local.IsStopping)
                activation.Parts.Local.Log.UnregistrationFailed(activation.GrainId, exception);
        }
    }

    private MigrationState Dehydrate(Registration previous)
    {
        var state = new MigrationState(activation.Parts.Calls, previous);
        foreach (var participant in activation.MigrationParticipants)
        {
            try
            {
                participant.OnDehydrate(state);
            }
            catch (Exception exception)
            {
                activation.Parts.Local.Log.DehydrationFailed(activation.GrainId, exception);
            }
        }

        return state;
    }
}

/// <summary>A span of time that begins now, for steps of code that is not the runtime's: what has not ended by then is left
/// behind.</summary>
internal sealed class TimeLimit(TimeProvider time, TimeSpan length)
{
    private readonly long _began = time.GetTimestamp();

    internal TimeSpan Length => length;

    /// <summary>Waits for the step as long as time is left; true when it has ended, in whatever way. Goes on in the caller's
    /// context.</summary>
    internal async Task<bool> EndsAsync(Task step)
    {
        if (!step.IsCompleted)
            await step.WaitAsync(Left(), time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
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
