using System.Diagnostics;
using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using Orleans;
using Orleans.Runtime;
using Orleans.Runtime.Diagnostics;
using Orleans.Storage;

namespace ActOp.Runtime.Activations;

/// <summary>
/// The start of one activation: registers it, constructs its instance and runs its hooks. It is also the mailbox item that starts this, and
/// it exists as long as the start runs. A start that does not have to wait needs no other object.
/// </summary>
/// <remarks>
/// Runs on the turns of the activation. Failures by step:
/// <list type="table">
/// <item><term>register</term><description> Throws: it is not known whether the activation is registered. The waiting requests fail with
/// the exception, and the activation ends and removes what may be there; but one that carries state tries again as long as the silo runs.
/// Hangs: the directory client throws after the response timeout. Twice: registering the same activation again changes nothing. Another one
/// is registered: the requests are forwarded to it. The activation that it takes over from is not registered any more: the state is
/// outdated, and the requests start a new activation. </description></item>
/// <item><term>ask the source for the grain</term><description> Only one that has come from another silo. Refused: it gives the
/// registration back and ends; the requests are forwarded. No answer: asks again until the source answers or is dead, or this silo stops.
/// Twice: the source gives the same answer. </description></item>
/// <item><term>construct</term><description> Throws: as above; the service scope is disposed. Blocks: it holds its thread, which is logged
/// as a long turn; it cannot be ended. </description></item>
/// <item><term>OnRehydrate</term><description>Throws: logged; the other participants still get their state.</description></item>
/// <item><term>lifecycle stages, OnActivateAsync</term><description> Throw: as above; stages that were started are stopped, the instance is
/// disposed, OnDeactivateAsync is not called. Exceed ActivationTimeout: their token is cancelled, the waiting requests fail with a
/// <see cref="TimeoutException"/>, and the activation ends. The rest of the hook runs on turns of an activation that is gone: it cannot
/// create timers, and the activation cannot become active. </description></item>
/// <item><term>callbacks on the token</term><description>Throw: logged.</description></item>
/// <item><term>the end is requested from outside</term><description> The token is cancelled. If the hooks observe it, or have not started,
/// the activation ends without a failure; the requests are forwarded to the next one. </description></item>
/// <item><term>DeactivateOnIdle meanwhile</term><description> Takes effect when OnActivateAsync has ended: the activation runs no request,
/// and the requests are forwarded to the next one. </description></item>
/// </list>
/// </remarks>
/// <param name="activation">The activation.</param>
/// <param name="state">The state that it has taken along, or null.</param>
/// <param name="context">The request context of the constructor, the hooks and their calls, or null.</param>
/// <param name="trace">The trace that the calls of the hooks continue, or null.</param>
internal sealed class Beginning(Activation activation, MigrationState? state, RequestContextData? context, object? trace) : MailboxItem
{
    /// <summary>Between two attempts to register, or to ask the source. Each has the timeout of its request.</summary>
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(200);

    [ThreadStatic]
    private static Beginning? t_spare;

    private CancellationTokenSource? _cancellation;
    private Activity? _span;
    private bool _isCancelled;
    private bool _mayRun;

    /// <summary>The end or the migration that was requested during the start, or null.</summary>
    internal Departure? Departure { get; set; }

    /// <summary>The registration of an activation of this silo that this one takes over, as long as it is not registered itself.</summary>
    internal Location Kept => state is { HasReturned: true } ? state.Previous.Location : default;

    internal override void Run(CallHost host) => ActivationLife.Supervise(activation, RunAsync());

    /// <summary>
    /// The start of an activation for its first request, not run yet. A thread reuses one object for all starts that do not have to wait.
    /// Other threads may still read it as that of an earlier start. This is harmless, because none of these starts has state.
    /// </summary>
    internal static Beginning For(Activation activation, RequestContextData? context, object? trace)
    {
        if (t_spare is not { } spare)
            return new Beginning(activation, null, context, trace);
        t_spare = null;
        spare.Use(activation, context, trace);
        return spare;
    }

    /// <summary>Runs the start that <see cref="For"/> has returned.</summary>
    internal void RunFirst()
    {
        var running = RunAsync();
        ActivationLife.Supervise(activation, running);
        if (!running.IsCompletedSuccessfully || _cancellation is not null)
            return;
        Use(null!, null, null);
        t_spare = this;
    }

    private void Use(Activation next, RequestContextData? itsContext, object? itsTrace)
    {
        (activation, context, trace) = (next, itsContext, itsTrace);
        _isCancelled = false;
        _mayRun = false;
        Departure = null;
    }

    /// <summary>
    /// The end of the activation was requested: hooks that have not started are skipped, and the token of the others is cancelled.
    /// </summary>
    internal void Cancel()
    {
        _isCancelled = true;
        if (_cancellation is not null)
            Turn.Cancel(_cancellation, activation);
    }

    private Task RunAsync() => GrainSpans.IsOn ? RunTracedAsync() : StartAsync();

    private async Task RunTracedAsync()
    {
        _span = GrainSpans.Activating(activation, state is not null, trace);
        try
        {
            await StartAsync();
        }
        finally
        {
            CallTrace.End(_span);
            _span = null;
        }
    }

    private async Task StartAsync()
    {
        try
        {
            activation.Life.EnterGroup(activation, mayRefuse: state is null);
            if (activation.Class.UsesDirectory)
            {
                var winner = await (_span is null ? RegisterAsync() : RegisterTracedAsync());
                if (!winner.Activation.Equals(activation.ActivationId))
                {
                    EndDuplicate(winner);
                    return;
                }
            }

            if (state is { MustAsk: true } && !await AskAsync())
            {
                GiveBack();
                return;
            }

            _mayRun = activation.Class.UsesDirectory;
            if (_isCancelled)
                throw new OperationCanceledException();
            if (_span is null)
                CallTrace.Enter(trace);
            RequestContext.Current = context;
            activation.Construct();
            if (GrainLifecycleEvents.Feed.IsWatched)
                GrainLifecycleEvents.Feed.Write(new GrainLifecycleEvents.Created(activation));
            if (state is not null)
                Restore(state);
            if (activation.HasHooks || _span is not null)
                await RunHooksAsync();
        }
        catch (Exception exception)
        {
            Fail(exception);
            return;
        }

        activation.Life.Begun(activation, state);
    }

    /// <summary>
    /// Registers the activation. If the directory does not answer, the start fails, unless the activation carries the state of a grain:
    /// then it tries again until its silo stops. It may be registered, and its silo may hold the only copy.
    /// </summary>
    private async ValueTask<Location> RegisterAsync()
    {
        var previous = state is { HasReturned: true, HandOver: { } handOver } ? handOver.Next
            : state?.Previous.Location.Activation ?? default;
        while (true)
        {
            try
            {
                var winner = await activation.Parts.Directory.RegisterAsync(activation, previous);
                if (!IsOlder(winner) || winner.Activation.Equals(previous))
                    return winner;
                previous = winner.Activation;
            }
            catch (Exception exception) when (TriesAgain())
            {
                activation.Parts.Local.Log.RegistrationRepeated(activation.GrainId, exception);
                await Task.Delay(Pause, activation.Parts.Local.TaskTime);
            }
        }
    }

    private async ValueTask<Location> RegisterTracedAsync()
    {
        using var span = new GrainSpan(GrainSpans.Step(activation, GrainSpans.Register));
        span.Tag("orleans.directory.previousRegistration.present", state is not null);
        try
        {
            var winner = await RegisterAsync();
            span.Tag("orleans.directory.registered.address", winner.ToString());
            return winner;
        }
        catch (Exception exception)
        {
            span.Fail(exception);
            throw;
        }
    }

    /// <summary>
    /// The registered activation is one that the state was taken back from: the one that has left, or the one on the target, which has run
    /// no turn and never will.
    /// </summary>
    private bool IsOlder(Location winner) => state is { HasReturned: true, HandOver: { } handOver }
        && (winner.Activation.Equals(handOver.Next) || winner.Activation.Equals(state.Previous.Location.Activation));

    /// <summary>A directory of the application gets no second request.</summary>
    private bool TriesAgain() => state is not null && activation.Parts.Local.AcceptsActivations
        && (state.HasReturned || !activation.Parts.Directory.IsCustom(activation.Class.GrainType));

    /// <summary>Asks the source for the grain until there is an answer. False if this activation must not run.</summary>
    private async ValueTask<bool> AskAsync()
    {
        while (!_isCancelled && activation.Parts.Local.AcceptsActivations)
        {
            if (await activation.Parts.Migrations.AskAsync(state!.Previous, activation.Location) is { } answer)
                return answer;
            await Task.Delay(Pause, activation.Parts.Local.TaskTime);
        }

        return false;
    }

    /// <summary>Hands over the state, in the request context of the migration request.</summary>
    private void Restore(MigrationState carried)
    {
        RequestContext.Current = carried.Context;
        var isTaker = activation.Instance is IGrainMigrationParticipant;
        using var span = new GrainSpan(isTaker ? GrainSpans.Step(activation, GrainSpans.Rehydrate) : null);
        span.Tag("orleans.rehydrate.previousRegistration", carried.Previous.Location.ToString());
        foreach (var participant in activation.MigrationParticipants)
        {
            try
            {
                participant.OnRehydrate(carried);
            }
            catch (Exception exception)
            {
                span.Fail(exception);
                activation.Parts.Local.Log.RehydrationFailed(activation.GrainId, exception);
            }
        }

        RequestContext.Current = context;
    }

    private async Task RunHooksAsync()
    {
        var limit = new TimeLimit(activation.Parts.Local.TaskTime, activation.Parts.Collection.ActivationTimeout);
        _cancellation = new CancellationTokenSource();
        var hooks = CallHooksAsync(_cancellation.Token);
        if (hooks.IsCompleted || await limit.EndsAsync(hooks))
        {
            await hooks;
            return;
        }

        activation.Parts.LogLateFailure(activation, hooks, "OnActivateAsync");
        Cancel();
        throw new TimeoutException(
            "The activation of " + activation.GrainId + " on the silo " + activation.Parts.Local.Address +
                " has not ended within ActivationTimeout (" + limit.Length + "): "
            + "OnActivateAsync of " + activation.Class.Type +
                " or a stage of its lifecycle hangs. It was given up. Calls are refused for 5 s; the next one begins a new activation.");
    }

    private async Task CallHooksAsync(CancellationToken cancellation)
    {
        await activation.StartLifecycleAsync(cancellation);
        if (activation.Instance is IGrainBase grain)
            await (_span is null ? Given.Task(grain.OnActivateAsync(cancellation)) : CallTracedAsync(grain, cancellation));
    }

    private Task CallTracedAsync(IGrainBase grain, CancellationToken cancellation) =>
        GrainSpans.Around(activation, GrainSpans.OnActivate, () => Given.Task(grain.OnActivateAsync(cancellation)));

    private void EndDuplicate(Location winner)
    {
        activation.Parts.Local.Counts.Add(NodeEvent.StartedTwice);
        if (!winner.IsNone)
            activation.Parts.Locations.SetLocation(activation.GrainId, winner);
        state?.Refused(winner);
        activation.Life.Unbegin(activation, new DeactivationReason(
            DeactivationReasonCode.DuplicateActivation,
            winner.IsNone ? "The grain has ended since its state was taken." : "Another activation of the grain is registered."));
    }

    /// <summary>The source goes on with the grain.</summary>
    private void GiveBack()
    {
        state!.Refused(default);
        activation.Life.Unbegin(
            activation,
            new DeactivationReason(DeactivationReasonCode.DuplicateActivation, "The silo that the grain comes from goes on with it."),
            previous: state.Previous);
    }

    private void Fail(Exception exception)
    {
        Exception? refusal = null;
        // It leaves this activation, which ends anyway.
        (exception as InconsistentStateException)?.TryLeaveOrigin();
        state?.Refused(default);
        // A hook that observes the cancelled token has not failed: the requests are forwarded when the activation ends.
        if (exception is not OperationCanceledException || !_isCancelled)
        {
            CallTrace.Fail(_span, exception);
            activation.Parts.Local.Counts.Add(NodeEvent.StartFailed);
            activation.Parts.Local.Log.ActivationFailed(activation.GrainId, exception);
            activation.FailWaiting(exception);
            if (_mayRun)
                refusal = exception;
        }

        activation.Life.Unbegin(
            activation, new DeactivationReason(DeactivationReasonCode.ActivationFailed, exception, "The activation failed."), refusal,
            state is { MustAsk: true } && !_mayRun ? state.Previous : null);
    }
}
