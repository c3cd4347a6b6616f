using ActOp.Calls;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Locality;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>
/// The begin of one activation: registered, constructed, its hooks run. It is the item of the mailbox that starts it, and lives as long as
/// it takes; nothing else is made for a begin that waits for nobody.
/// </summary>
/// <remarks>
/// Runs on the activation's turns. What can go wrong, step by step:
/// <list type="table">
/// <item><term>register</term><description> Throws: the requests that wait fail with it, and the activation leaves; one that holds state
/// which could not leave its silo asks again, as long as the silo is there. Hangs: the directory client gives up after the response timeout
/// and throws. Twice: registering the same activation again changes nothing. Another one is registered: the requests go there. The
/// activation that it takes over from is not registered any more: the state is old, and the requests begin a new one. </description></item>
/// <item><term>construct</term><description> Throws: as above; the service scope is disposed. Blocks: it holds its thread, which is logged
/// as a long turn; nothing can end it. </description></item>
/// <item><term>OnRehydrate</term><description>Throws: logged; the other participants get their state.</description></item>
/// <item><term>lifecycle stages, OnActivateAsync</term><description> Throw: as above; stages that were begun are stopped, the instance is
/// disposed, OnDeactivateAsync is not called. Hang beyond ActivationTimeout: their token is signalled, the requests that wait fail with a
/// <see cref="TimeoutException"/>, and the activation leaves. What the hook still does then runs on turns of an activation that is gone: it
/// gets no timers and cannot become active. </description></item>
/// <item><term>callbacks on the token</term><description>Throw: logged.</description></item>
/// <item><term>the end is asked for from outside</term><description> The token is signalled. Hooks that heed it, or have not begun, end the
/// activation without a failure; the requests go to the next one. </description></item>
/// <item><term>DeactivateOnIdle meanwhile</term><description> Granted as soon as OnActivateAsync has ended: the activation serves nothing,
/// and the requests go to the next one. </description></item>
/// </list>
/// </remarks>
/// <param name="activation">What begins.</param>
/// <param name="state">What it carries, or null.</param>
/// <param name="context">What the constructor and the hooks see, and the calls that they make; null when nobody has sent anything
/// along.</param>
/// <param name="trace">The trace that the calls of the hooks continue, or null.</param>
internal sealed class Beginning(Activation activation, MigrationState? state, RequestContextData? context, object? trace) : MailboxItem
{
    /// <summary>
    /// The life of an activation that begins with its first request, on the turn of that. It stands in for the <see cref="Beginning"/> that
    /// is made then.
    /// </summary>
    internal static readonly object WithFirstRequest = new();

    /// <summary>Between two attempts of <see cref="RegisterAsync"/>, each of which waits for the directory itself.</summary>
    private static readonly TimeSpan RegistrationPause = TimeSpan.FromMilliseconds(200);

    [ThreadStatic]
    private static Beginning? t_spare;

    private CancellationTokenSource? _cancellation;
    private bool _isCancelled;

    /// <summary>What is wanted already of the activation's end, if anything is.</summary>
    internal Departure? Departure { get; set; }

    /// <summary>The registration of an activation of this silo that this one takes over, as long as it has none of its own.</summary>
    internal Location Kept => state is { HasReturned: true } ? state.Previous.Location : default;

    internal override void Run(CallHost host) => ActivationLife.Supervise(activation, RunAsync());

    /// <summary>
    /// Begins an activation on its turn, for its first request. One object serves all begins of a thread that wait for nobody. Other
    /// threads may still see it as that of an earlier begin, which tells them nothing: none of these begins carries state.
    /// </summary>
    /// <returns>What the life of the activation is meanwhile, not run yet.</returns>
    internal static Beginning For(Activation activation, RequestContextData? context, object? trace)
    {
        if (t_spare is not { } spare)
            return new Beginning(activation, null, context, trace);
        t_spare = null;
        spare.Use(activation, context, trace);
        return spare;
    }

    /// <summary>Runs what <see cref="For"/> has made.</summary>
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
        Departure = null;
    }

    /// <summary>The end of the activation is wanted: its hooks need not begin, and those that heed their token need not go on.</summary>
    internal void Cancel()
    {
        _isCancelled = true;
        if (_cancellation is not null)
            activation.Cancel(_cancellation);
    }

    private async Task RunAsync()
    {
        try
        {
            if (activation.Class.UsesDirectory)
            {
                var winner = await RegisterAsync();
                if (!winner.Activation.Equals(activation.ActivationId))
                {
                    EndDuplicate(winner);
                    return;
                }
            }

            if (_isCancelled)
                throw new OperationCanceledException();
            CallTrace.Enter(trace);
            RequestContext.Current = context;
            activation.Construct();
            if (state is not null)
                Restore(state);
            if (activation.HasHooks)
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
    /// A directory that does not answer ends a begin, but not one that holds the only copy of a grain's state: that one asks until its silo
    /// ends.
    /// </summary>
    private async ValueTask<Location> RegisterAsync()
    {
        while (true)
        {
            try
            {
                return await activation.Parts.Directory.RegisterAsync(activation, state?.Previous.Location.Activation ?? default);
            }
            catch (Exception exception) when (state is { HasReturned: true } && activation.Parts.Local.AcceptsActivations)
            {
                activation.Parts.Local.Log.RegistrationRepeated(activation.GrainId, exception);
                await Task.Delay(RegistrationPause, activation.Parts.Local.Time);
            }
        }
    }

    /// <summary>Hands the carried state over, in the request context of whoever asked for the move.</summary>
    private void Restore(MigrationState carried)
    {
        RequestContext.Current = carried.Context;
        foreach (var participant in activation.MigrationParticipants)
        {
            try
            {
                participant.OnRehydrate(carried);
            }
            catch (Exception exception)
            {
                activation.Parts.Local.Log.RehydrationFailed(activation.GrainId, exception);
            }
        }

        RequestContext.Current = context;
    }

    private async Task RunHooksAsync()
    {
        var limit = new TimeLimit(activation.Parts.Local.Time, activation.Parts.Collection.ActivationTimeout);
        _cancellation = new CancellationTokenSource();
        var hooks = CallHooksAsync(_cancellation.Token);
        if (hooks.IsCompleted || await limit.EndsAsync(hooks))
        {
            await hooks;
            return;
        }

        activation.LogLateFailure(hooks, "OnActivateAsync");
        Cancel();
        throw new TimeoutException(
            "The activation of " + activation.GrainId + " on the silo " + activation.Parts.Local.Address + " has not ended within ActivationTimeout (" + limit.Length + "): "
            + "OnActivateAsync of " + activation.Class.Type + " or a stage of its lifecycle hangs. It was given up; the next call begins a new one.");
    }

    private async Task CallHooksAsync(CancellationToken cancellation)
    {
        await activation.StartLifecycleAsync(cancellation);
        if (activation.Instance is IGrainBase grain)
            await grain.OnActivateAsync(cancellation);
    }

    private void EndDuplicate(Location winner)
    {
        if (!winner.IsNone)
            activation.Parts.Locations.Put(activation.GrainId, winner);
        state?.Refused(winner);
        activation.Life.Unbegin(activation, new DeactivationReason(
            DeactivationReasonCode.DuplicateActivation,
            winner.IsNone ? "The grain has ended since its state was taken." : "Another activation of the grain is registered."));
    }

    private void Fail(Exception exception)
    {
        state?.Refused(default);
        // Whoever heeds the token that the end has signalled has not failed: the requests go on with the activation's end.
        if (exception is not OperationCanceledException || !_isCancelled)
        {
            activation.Parts.Local.Log.ActivationFailed(activation.GrainId, exception);
            activation.FailWaiting(exception);
        }

        activation.Life.Unbegin(activation, new DeactivationReason(DeactivationReasonCode.ActivationFailed, exception, "The activation failed."));
    }
}
